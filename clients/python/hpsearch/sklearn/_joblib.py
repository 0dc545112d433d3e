"""What joblib keeps of its own in one place of old releases, and takes from packages in new ones."""

# pyright: reportAttributeAccessIssue=false
# Pyright also looks for a library in this directory, and takes this package or module for the one of its name.

from __future__ import annotations

try:
    from joblib.externals import cloudpickle
except ImportError:
    import cloudpickle
try:
    from joblib.externals.loky import get_reusable_executor
except ImportError:
    from loky import get_reusable_executor

__all__ = ["cloudpickle", "get_reusable_executor"]
