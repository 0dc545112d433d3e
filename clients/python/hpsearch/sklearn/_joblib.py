"""What joblib keeps of its own in one place of old releases, and takes from packages in new ones."""

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
