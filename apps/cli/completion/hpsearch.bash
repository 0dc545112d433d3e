# Completion of hpsearch for bash: source <(hpsearch completion bash)
# The program completes its own words (hpsearch __complete WORDS), so this file fits each of its versions.

_hpsearch() {
  local -a words=()
  local word rest=$COMP_LINE trimmed i
  # bash divides words at = and :, as in --server=unix:///run/hpsearch/api.sock. Join what no blank divides.
  for ((i = 0; i <= COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    trimmed=${rest#"${rest%%[![:space:]]*}"}
    if ((i > 0)) && [[ -n $word && $trimmed == "$rest" ]]; then
      words[${#words[@]} - 1]+=$word
    else
      words+=("$word")
    fi
    rest=${trimmed#"$word"}
  done

  # bash replaces only what follows the last of these characters.
  local current=${words[${#words[@]} - 1]} kept="" character
  for character in = :; do
    if [[ $COMP_WORDBREAKS == *"$character"* && $current == *"$character"* ]]; then
      word=${current%"${current##*"$character"}"}
      ((${#word} > ${#kept})) && kept=$word
    fi
  done
  local option=""
  [[ $current == --*=* ]] && option=${current%%=*}=

  local program=${words[0]/#\~/$HOME} line
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :files | :directories)
        compopt -o filenames
        local kind=-f
        [[ $line == :directories ]] && kind=-d
        while IFS= read -r word; do
          word=$option$word
          COMPREPLY+=("${word#"$kept"}")
        done < <(compgen "$kind" -- "${current#"$option"}")
        ;;
      *)
        word=${line%%$'\t'*}
        printf -v word %q "${word#"$kept"}"
        COMPREPLY+=("$word")
        ;;
    esac
  done < <("$program" __complete "${words[@]:1}" 2>/dev/null)
}

complete -F _hpsearch hpsearch
