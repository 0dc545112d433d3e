#!/bin/sh
# Installs hpsearch from the directory that this script lies in. Nothing else is needed: the programs run from here as well.
#
#   ./install.sh --prefix DIR           copies programs, library, manual pages and units to DIR (/usr/local, ~/.local, …)
#   ./install.sh --prefix DIR --remove  removes what an install.sh has copied there
#
# Programs that run are replaced, not overwritten: they and their trials continue. Units are in DIR/lib/systemd/system, with
# the paths of DIR.
set -eu

usage() {
  sed -n '/^#   /s/^# *//p' "$0" >&2
  exit 2
}
here=$(cd "$(dirname "$0")" && pwd)
prefix=
remove=
while [ $# -gt 0 ]; do
  case $1 in
    --prefix)
      [ $# -ge 2 ] || usage
      prefix=$2
      shift
      ;;
    --prefix=*) prefix=${1#--prefix=} ;;
    --remove) remove=yes ;;
    *)
      echo "install.sh: unknown argument $1" >&2
      usage
      ;;
  esac
  shift
done
[ -n "$prefix" ] || usage
case $prefix in
  /*) ;;
  *)
    echo "install.sh: the prefix is \"$prefix\"; it must begin with /" >&2
    exit 2
    ;;
esac
case $prefix in
  *[!A-Za-z0-9/._+@:-]*)
    echo "install.sh: the prefix is \"$prefix\"; the units can't name a path with other characters than letters, digits and /._+@:-" >&2
    exit 2
    ;;
esac
list=$prefix/share/hpsearch/installed.txt

# remove_listed LIST: removes the files that the list names and the current one doesn't, then folders that are empty.
remove_listed() {
  while IFS= read -r file; do
    grep -qxF -e "$file" "$2" || rm -f "$prefix/$file"
    echo "$file"
  done <"$1" | while IFS= read -r file; do
    folder=$(dirname "$file")
    while [ "$folder" != . ]; do
      rmdir "$prefix/$folder" 2>/dev/null || break
      folder=$(dirname "$folder")
    done
  done
}

if [ -n "$remove" ]; then
  [ -e "$list" ] || { echo "install.sh: $prefix has no share/hpsearch/installed.txt, so nothing was installed there" >&2; exit 1; }
  files=$(mktemp)
  trap 'rm -f "$files"' EXIT
  cp "$list" "$files"
  rm "$list"
  remove_listed "$files" /dev/null
  rmdir "$prefix/share/hpsearch" 2>/dev/null || true
  echo "removed hpsearch from $prefix"
  exit 0
fi

mkdir -p "$prefix/share/hpsearch"
new=$list.new
(cd "$here" && find bin lib share ! -type d | LC_ALL=C sort) >"$new"
while IFS= read -r file; do
  mkdir -p "$(dirname "$prefix/$file")"
  case $file in
    lib/systemd/*) sed "s|/usr/bin/|$prefix/bin/|g" "$here/$file" >"$prefix/$file.new" && chmod 644 "$prefix/$file.new" ;;
    *) cp -P "$here/$file" "$prefix/$file.new" ;;
  esac
  mv -f "$prefix/$file.new" "$prefix/$file"
done <"$new"
# A file of an older release that this one doesn't have.
[ ! -e "$list" ] || remove_listed "$list" "$new"
mv -f "$new" "$list"
echo "installed $("$prefix/bin/hpsearch" --version) in $prefix; the programs are in $prefix/bin"
