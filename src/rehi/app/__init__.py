"""The wiring: which engine stands behind which port, and where files lie. Nothing else knows."""

from rehi.app.folder_lock import lock_folder
from rehi.app.house import House
from rehi.process import utc_now

__all__ = ["House", "lock_folder", "utc_now"]
