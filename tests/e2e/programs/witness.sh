# Writes down everything that a program finds when it is started: what the worker gave it, byte for byte.
# Then it waits until as many programs as WITNESS_COUNT says have done so, as those do that work together.
set -eu
to=$WITNESS_DIR/shell.$$
mkdir "$to"
cat /proc/$$/environ > "$to/environment"
: > "$to/arguments"
for word in "$@"; do printf '%s\0' "$word" >> "$to/arguments"; done
printf '%s\0' "$(/bin/pwd)" > "$to/directory"
cp "${PAI_CONFIG_DIR}hyperparameters.json" "${PAI_CONFIG_DIR}training_job.json" "$to"
cp "$HPSEARCH_PARAMS_FILE" "$to/params.json"
if [ -n "${HPSEARCH_HOSTFILE-}" ]; then cp "$HPSEARCH_HOSTFILE" "$to/hostfile"; fi
: > "$to/done"
while [ "$(find "$WITNESS_DIR" -path '*/shell.*/done' | wc -l)" -lt "${WITNESS_COUNT-1}" ]; do sleep 0.01; done
echo 'HPSEARCH {"step": 1, "loss": 0.5}'
