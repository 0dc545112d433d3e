#!/bin/sh
# Compresses some text and says how long the result is. Usage: compress.sh LEVEL BLOCK
set -e
level=$1
block=$2
seq 1 20000 | head -c "$((block * 1024))" >numbers.txt
gzip -c "-$level" numbers.txt >numbers.txt.gz
before=$(wc -c <numbers.txt)
after=$(wc -c <numbers.txt.gz)
echo "compressed $before bytes to $after bytes"
echo "ratio: $(echo "$before $after" | awk '{ printf "%.3f", $1 / $2 }')"
