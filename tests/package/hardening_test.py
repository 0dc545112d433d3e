#!/usr/bin/python3
"""What cmake/HpsearchHardening.cmake promises.

    hardening_test.py CMAKE BUILD_DIR GENERATOR CXX_COMPILER

Installs the programs of a build and reads their ELF headers and symbols. Then configures a project of three lines with
that file, to see that the flags of users and packagers win, and that an embedder gets none.
"""

import json
import pathlib
import platform
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

import elf

CMAKE, BUILD, GENERATOR, COMPILER = sys.argv[1:5]
del sys.argv[1:5]
SOURCE = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = {"hpsearch", "hpsearchd", "hpsearch-worker", "hpsearch-shim", "hpsearch-ranks", "hpsearch-report",
            "hpsearch-determined"}
ASSERTIONS = "_ZSt21__glibcxx_assert_failPKciS0_S0_"


def run(*command, **options):
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300, **options)
    assert result.returncode == 0, f"{shlex.join(map(str, command))}:\n{result.stdout}{result.stderr}"
    return result.stdout


class InstalledPrograms(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.scratch.cleanup)
        prefix = pathlib.Path(cls.scratch.name)
        run(CMAKE, "--install", BUILD, "--prefix", prefix, "--component", "runtime")
        cls.files = {path.name: elf.Elf(path) for path in prefix.rglob("*")
                     if path.is_file() and not path.is_symlink() and elf.is_elf(path)}

    def each(self, is_right, why, only=None):
        files = [name for name in self.files if only is None or name in only]
        self.assertEqual([name for name in files if not is_right(self.files[name])], [], why)

    def test_all_programs_are_looked_at(self):
        self.assertLessEqual(PROGRAMS, self.files.keys())

    def test_position_independent(self):
        self.each(lambda file: file.type == elf.ET_DYN, "must be position-independent")
        self.each(lambda file: file.segments_of(elf.PT_INTERP) and file.dynamic.get(elf.DT_FLAGS_1, 0) & elf.DF_1_PIE,
                  "must be a PIE", only=PROGRAMS)
        self.each(lambda file: elf.DT_TEXTREL not in file.dynamic, "the loader must not change code")

    def test_nothing_is_writable_after_relocation_that_need_not_be(self):
        self.each(lambda file: file.segments_of(elf.PT_GNU_RELRO), "needs -z relro")
        self.each(lambda file: file.dynamic.get(elf.DT_FLAGS, 0) & elf.DF_BIND_NOW or
                  file.dynamic.get(elf.DT_FLAGS_1, 0) & elf.DF_1_NOW, "needs -z now")

    def test_no_memory_is_writable_and_executable(self):
        both = elf.PF_W | elf.PF_X
        self.each(lambda file: all(segment[1] & both != both for segment in file.segments_of(elf.PT_LOAD)), "W^X")
        self.each(lambda file: [segment[1] & elf.PF_X for segment in file.segments_of(elf.PT_GNU_STACK)] == [0],
                  "the stack must not be executable")

    def test_no_library_is_looked_for_in_a_directory_of_the_build(self):
        self.each(lambda file: elf.DT_RPATH not in file.dynamic and elf.DT_RUNPATH not in file.dynamic, "no rpath")

    def test_stack_protector(self):
        self.each(lambda file: "__stack_chk_fail" in file.symbols(), "needs -fstack-protector-strong")

    def test_fortified_functions(self):
        self.each(lambda file: any(re.fullmatch(r"__\w+_chk", name) for name in file.symbols()),
                  "needs _FORTIFY_SOURCE")

    def test_assertions_of_the_standard_library(self):
        self.each(lambda file: ASSERTIONS in file.symbols(), "needs _GLIBCXX_ASSERTIONS")

    def test_stack_clash_protection(self):
        """It leaves no symbol, but debug information has the compiler's flags."""
        if not all(b"GNU C++" in file.bytes for file in self.files.values()):
            self.skipTest("the programs have no debug information of g++")
        self.each(lambda file: b"-fstack-clash-protection" in file.bytes, "needs -fstack-clash-protection")

    @unittest.skipUnless(platform.machine() == "x86_64", "other processors have other instructions")
    def test_functions_are_marked_as_targets_of_jumps(self):
        endbr64 = bytes.fromhex("f30f1efa")
        self.each(lambda file: file.code_at(file.symbols(elf.SHT_SYMTAB)["main"][1], 4) == endbr64,
                  "needs -fcf-protection=full", only=PROGRAMS)


class Flags(unittest.TestCase):
    """The command that compiles one file, and the one that links it."""

    def commands(self, *definitions, project=""):
        with tempfile.TemporaryDirectory() as scratch:
            place = pathlib.Path(scratch)
            (place / "main.cpp").write_text("int main() {}\n")
            (place / "CMakeLists.txt").write_text(
                "cmake_minimum_required(VERSION 3.25)\nproject(flags CXX)\n" + project +
                "add_library(hpsearch_build_flags INTERFACE)\n"
                f"include({SOURCE}/cmake/HpsearchHardening.cmake)\n"
                "add_executable(flags main.cpp)\ntarget_link_libraries(flags PRIVATE hpsearch_build_flags)\n")
            run(CMAKE, "-S", place, "-B", place / "build", "-G", GENERATOR, f"-DCMAKE_CXX_COMPILER={COMPILER}",
                "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", "-DCMAKE_BUILD_TYPE=Release", *definitions)
            compiled = json.loads((place / "build" / "compile_commands.json").read_text())[0]["command"]
            run(CMAKE, "--build", place / "build")
            linked = "".join(path.read_text() for path in (place / "build").rglob("*")
                             if path.name in ("build.ninja", "link.txt"))
            return compiled, linked

    def test_are_there_unless_somebody_objects(self):
        compiled, linked = self.commands()
        for flag in ("-fstack-protector-strong", "-fstack-clash-protection", "-D_GLIBCXX_ASSERTIONS", "-fPIE"):
            self.assertIn(flag, compiled)
        self.assertRegex(compiled, r"-D_FORTIFY_SOURCE=[23]")
        for flag in ("-z,relro", "-z,now", "-z,noexecstack"):
            self.assertIn(flag, linked)

    def test_of_users_win(self):
        own = ("-fno-stack-protector -D_FORTIFY_SOURCE=1 -fcf-protection=none -fno-stack-clash-protection -no-pie "
               "-fno-pie -D_GLIBCXX_ASSERTIONS=1")
        compiled, linked = self.commands(f"-DCMAKE_CXX_FLAGS={own}",
                                         "-DCMAKE_EXE_LINKER_FLAGS=-Wl,-z,lazy -Wl,-z,norelro")
        for flag in ("-fstack-protector-strong", "_FORTIFY_SOURCE=2", "_FORTIFY_SOURCE=3", "-fcf-protection=full",
                     "-fstack-clash-protection ", "-fPIE", "-D_GLIBCXX_ASSERTIONS "):
            self.assertNotIn(flag, compiled.replace("-fno-stack-clash-protection", ""))
        self.assertNotIn("-z,now", linked)
        self.assertNotIn("-z,relro", linked)

    def test_unoptimised_code_is_not_fortified(self):
        compiled, _ = self.commands("-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS=-Werror")
        self.assertNotIn("_FORTIFY_SOURCE", compiled)

    def test_embedder_gets_none(self):
        compiled, linked = self.commands(project="set(PROJECT_IS_TOP_LEVEL OFF)\n")
        self.assertNotRegex(compiled, "stack-protector|FORTIFY|GLIBCXX_ASSERTIONS|cf-protection|-fPIE")
        self.assertNotIn("-z,now", linked)

    def test_sanitizers_get_none(self):
        compiled, _ = self.commands("-DHPSEARCH_SANITIZE=address")
        self.assertNotRegex(compiled, "stack-protector|FORTIFY|GLIBCXX_ASSERTIONS")


if __name__ == "__main__":
    unittest.main(verbosity=2)
