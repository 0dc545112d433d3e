# Writes down everything that a program finds when it is started: what the worker gave it, byte for byte.
set -eu
to=$WITNESS_DIR/shell
mkdir "$to"
cat /proc/$$/environ > "$to/environment"
: > "$to/arguments"
for word in "$@"; do printf '%s\0' "$word" >> "$to/arguments"; done
printf '%s\0' "$(/bin/pwd)" > "$to/directory"
cp "${PAI_CONFIG_DIR}hyperparameters.json" "${PAI_CONFIG_DIR}training_job.json" "$to"
cp "$HPSEARCH_PARAMS_FILE" "$to/params.json"
echo 'HPSEARCH {"step": 1, "loss": 0.5}'
