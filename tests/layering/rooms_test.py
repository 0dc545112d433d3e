"""scripts/check runs the tests of the rooms that changed, as CMake lists them: rooms_test.py BUILD/tests_of_rooms.txt. Each room has
some."""

import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class RoomsTest(unittest.TestCase):
    def test_each_room_has_tests_that_a_change_of_it_runs(self):
        known = {line.split()[0] for line in pathlib.Path(LISTED).read_text().splitlines()}
        rooms = {path.parent.name for path in ROOT.glob("*/CMakeLists.txt") if "hpsearch_room(" in path.read_text()}
        self.assertGreater(len(rooms), 4)
        for above in ("apps", "clients"):  # scripts/check knows what is below these by its own name.
            rooms |= {path.name for path in (ROOT / above).iterdir() if path.name != "programs"}
        self.assertEqual(sorted(rooms - known), [])


if __name__ == "__main__":
    LISTED = sys.argv.pop()
    unittest.main()
