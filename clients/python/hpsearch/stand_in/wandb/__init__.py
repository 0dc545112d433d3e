"""Where PYTHONPATH begins with the directory of this package, a program's `import wandb` finds hpsearch.wandb."""

import sys

import hpsearch.wandb

sys.modules[__name__] = hpsearch.wandb
