"""Reads what a 64-bit little-endian ELF file says about itself; only what hardening_test.py and the tests of the wheel ask for."""

import struct

ET_DYN = 3
PT_LOAD, PT_DYNAMIC, PT_INTERP, PT_GNU_STACK, PT_GNU_RELRO = 1, 2, 3, 0x6474E551, 0x6474E552
PF_X, PF_W = 1, 2
DT_TEXTREL, DT_RPATH, DT_RUNPATH, DT_FLAGS, DT_FLAGS_1 = 22, 15, 29, 30, 0x6FFFFFFB
DF_BIND_NOW, DF_1_NOW, DF_1_PIE = 0x8, 0x1, 0x08000000
SHT_SYMTAB, SHT_DYNSYM, SHT_VERNEED = 2, 11, 0x6FFFFFFE


def is_elf(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


class Elf:
    def __init__(self, path):
        self.bytes = path.read_bytes()
        if self.bytes[:6] != b"\x7fELF\x02\x01":
            raise ValueError(f"{path} is not a 64-bit little-endian ELF file")
        (self.type, self.machine, _, _, segments_at, sections_at, _, _, segment_size, segments, section_size,
         sections, _) = struct.unpack_from("<HHIQQQIHHHHHH", self.bytes, 16)
        # type, flags, offset, address, (physical), bytes in the file
        self.segments = [struct.unpack_from("<IIQQQQ", self.bytes, segments_at + i * segment_size)
                         for i in range(segments)]
        # name, type, flags, address, offset, size, link
        self.sections = [struct.unpack_from("<IIQQQQI", self.bytes, sections_at + i * section_size)
                         for i in range(sections)]
        self.dynamic = self._dynamic()

    def _dynamic(self):
        found = {}
        for kind, _, offset, _, _, size in self.segments:
            if kind == PT_DYNAMIC:
                for tag, value in struct.iter_unpack("<qQ", self.bytes[offset:offset + size]):
                    found.setdefault(tag, value)
        return found

    def segments_of(self, kind):
        return [segment for segment in self.segments if segment[0] == kind]

    def symbols(self, table=SHT_DYNSYM):
        """Name to (section, address) of the symbols in a table; imported ones have section 0."""
        found = {}
        for section in self.sections:
            if section[1] == table:
                names = self.sections[section[6]]
                for name, _, _, index, address, _ in struct.iter_unpack(
                        "<IBBHQQ", self.bytes[section[4]:section[4] + section[5]]):
                    at = names[4] + name
                    found[self.bytes[at:self.bytes.index(b"\0", at)].decode()] = (index, address)
        return found

    def needed_versions(self):
        """Library to the versions of its symbols that are asked for: {"libc.so.6": {"GLIBC_2.34", ...}}."""
        found = {}
        for section in self.sections:
            if section[1] != SHT_VERNEED:
                continue
            names, at, more = self.sections[section[6]][4], section[4], True
            text = lambda offset: self.bytes[names + offset:self.bytes.index(b"\0", names + offset)].decode()
            while more:
                _, versions, library, first, following = struct.unpack_from("<HHIII", self.bytes, at)
                version_at = at + first
                for _ in range(versions):
                    _, _, _, name, step = struct.unpack_from("<IHHII", self.bytes, version_at)
                    found.setdefault(text(library), set()).add(text(name))
                    version_at += step
                at, more = at + following, following != 0
        return found

    def code_at(self, address, size):
        for kind, _, offset, start, _, length in self.segments:
            if kind == PT_LOAD and start <= address < start + length:
                return self.bytes[offset + address - start:][:size]
        return b""
