"""Programs that write the files which their arguments name."""

from __future__ import annotations

from collections.abc import Mapping

from controlplane.policy.shell.options import ParsedOptions, build_spec
from controlplane.policy.shell.program_call import Program, ProgramCall, record_operands
from controlplane.policy.shell.programs.copy import COPIERS
from controlplane.policy.shell.programs.mkdir import list_parents, make_directory
from controlplane.policy.shell.programs.sed import SED_PROGRAM
from controlplane.policy.shell.result import UnclearCommandError
from controlplane.policy.shell.word import Word

DD_KEYS = frozenset(
    ["bs", "cbs", "conv", "count", "ibs", "iflag", "iseek", "obs", "oflag", "oseek", "seek", "skip", "status"]
)
MODE_OPTIONS = tuple(f"-{letter}" for letter in "rwxXst")
SPLIT_SUFFIXES = ("aa", "ab", "zz")
CSPLIT_SUFFIXES = ("00", "01", "99")


def _rm(call: ProgramCall, parsed: ParsedOptions) -> None:
    for word in parsed.operands:
        call.write_existing(word, "delete", recursive=parsed.has("-r", "-R", "--recursive"))


def _rmdir(call: ProgramCall, parsed: ParsedOptions) -> None:
    """Run `rmdir`; with -p it removes the parents too, as far as they are empty."""
    for word in parsed.operands:
        call.write(word, "delete")
        if parsed.has("-p", "--parents"):
            for parent in list_parents(word):
                call.write(parent, "delete")


def _mkdir(call: ProgramCall, parsed: ParsedOptions) -> None:
    for word in parsed.operands:
        make_directory(call, word, parents=parsed.has("-p", "--parents"))


def _change_mode(call: ProgramCall, parsed: ParsedOptions) -> None:
    """Run `chmod`, `chown` or `chgrp`: the first operand is a mode or owner, unless an option is (`-x`)."""
    if parsed.has("-H", "-L"):
        raise UnclearCommandError("follows symbolic links and changes what they lead to")
    has_mode = parsed.has("--reference", *MODE_OPTIONS)
    for mode in parsed.operands[: 0 if has_mode else 1]:
        if mode.has_wildcard or mode.may_split:  # only its first word would be the mode
            raise UnclearCommandError("its value could be several arguments", mode.span)
    for word in parsed.operands if has_mode else parsed.operands[1:]:
        call.write_existing(word, "mode", recursive=parsed.has("-R", "--recursive"))


def _dd(call: ProgramCall, parsed: ParsedOptions) -> None:
    for word in parsed.operands:
        key, equals, value = word.prefix.partition("=")
        name = Word(None if word.value is None else value, value, word.start, word.end, word.has_wildcard)
        if key == "if" and equals:
            call.read(name)
        elif key == "of" and equals:
            call.write(name)
        elif key not in DD_KEYS or not equals:
            raise UnclearCommandError("an operand of dd that is not known", word.span)


def _shuf(call: ProgramCall, parsed: ParsedOptions) -> None:
    record_operands(call, parsed.operands, "-*" if parsed.has("-e", "-i", "--echo", "--input-range") else "r")


def _split(call: ProgramCall, parsed: ParsedOptions) -> None:
    """Run `split`, which writes `PREFIXaa`, `PREFIXab` …; three samples stand for all."""
    record_operands(call, parsed.operands[:1], "r")
    prefix = parsed.operands[1] if len(parsed.operands) > 1 else Word("x", "x", *call.span)
    _write_samples(call, prefix, SPLIT_SUFFIXES)


def _csplit(call: ProgramCall, parsed: ParsedOptions) -> None:
    record_operands(call, parsed.operands[:1], "r")
    prefixes = parsed.values("-f", "--prefix")
    _write_samples(call, prefixes[-1] if prefixes else Word("xx", "xx", *call.span), CSPLIT_SUFFIXES)


def _write_samples(call: ProgramCall, prefix: Word, suffixes: tuple[str, ...]) -> None:
    for suffix in suffixes:
        value = None if prefix.value is None else prefix.value + suffix
        call.write(
            Word(value, prefix.prefix, prefix.start, prefix.end, prefix.has_wildcard, prefix.has_tilde)
        )


def _compress(call: ProgramCall, parsed: ParsedOptions) -> None:
    """Run `gzip` and the like: the file is replaced by one of another name."""
    if parsed.has("-c", "--stdout", "--to-stdout", "-t", "-l", "--test", "--list"):
        call.read_all(parsed.operands)
        return
    decompresses = parsed.has("-d", "--decompress") or call.name.startswith(("gun", "bun", "un"))
    suffix = SUFFIXES[call.name]
    for word in parsed.operands:
        if decompresses and not (word.value or "").endswith(suffix):  # x.tgz gives x.tar
            raise UnclearCommandError("the name of the decompressed file is not known", word.span)
        call.write(word, "delete")
        call.write(_toggle_suffix(word, suffix))


def _toggle_suffix(word: Word, suffix: str) -> Word:
    name = word.value or ""
    text = name.removesuffix(suffix) if name.endswith(suffix) else name + suffix
    return Word(text, text, word.start, word.end, word.has_wildcard, word.has_tilde)


SUFFIXES = {
    name: suffix
    for suffix, names in {
        ".gz": "gzip gunzip",
        ".bz2": "bzip2 bunzip2",
        ".xz": "xz unxz",
        ".zst": "zstd unzstd",
    }.items()
    for name in names.split()
}


def _writer(options: str, operands: str = "w*", marks: str = "") -> Program:
    return Program(build_spec(options, operands, marks=marks))


COMPRESS = (
    "-123456789cdfklnqtv --stdout --to-stdout --decompress --force --keep --list --quiet --test --best --fast"
)

WRITERS: Mapping[str, Program] = {
    "tee": _writer("-aip --append --ignore-interrupts --output-error?"),
    "rm": Program(
        build_spec(
            "-dfirRIv --dir --force --interactive? --one-file-system --preserve-root --recursive --verbose"
        ),
        _rm,
    ),
    "rmdir": Program(build_spec("-pv --parents --verbose --ignore-fail-on-non-empty"), _rmdir),
    "unlink": Program(build_spec(""), _rm),
    "mkdir": Program(build_spec("-pv -m= --mode= --parents --verbose"), _mkdir),
    "touch": _writer("-acfhm -d= -t= -r=r --date= --time= --reference=r --no-create --no-dereference"),
    "truncate": _writer("-co -s= -r=r --size= --reference=r --no-create --io-blocks"),
    "chmod": Program(
        build_spec("-cfvRrwxXst --changes --quiet --silent --verbose --recursive --reference=r"), _change_mode
    ),
    "chown": Program(
        build_spec("-cfhvRHLP --changes --no-dereference --recursive --reference=r --from= --verbose"),
        _change_mode,
    ),
    "chgrp": Program(
        build_spec("-cfhvRHLP --changes --no-dereference --recursive --reference=r --verbose"), _change_mode
    ),
    "dd": Program(build_spec("", "-*"), _dd),
    "sort": _writer(
        "-bdfghiMnRrVcCmsuz -k= -o=w -S= -t= --key= --output=w --field-separator= --buffer-size= "
        "--ignore-leading-blanks --dictionary-order --ignore-case --general-numeric-sort "
        "--ignore-nonprinting --month-sort --human-numeric-sort --numeric-sort --random-sort --reverse "
        "--sort= --version-sort --check? --merge --stable --unique --zero-terminated --parallel= "
        "--batch-size= --debug",
        "r*",
    ),
    "uniq": _writer(
        "-cdDiuz -f= -s= -w= --count --repeated --all-repeated? --skip-fields= --skip-chars= --ignore-case "
        "--unique --check-chars= --zero-terminated --group?",
        "rw",
    ),
    "xxd": _writer("-abeEiupr -c= -g= -l= -o= -s=", "rw"),
    "iconv": _writer("-clrs -f= -t= -o=w --from-code= --to-code= --output=w --list", "r*"),
    "shuf": Program(
        build_spec(
            "-erz -i= -n= -o=w --echo --input-range= --head-count= --output=w --random-source=r --repeat",
            "-*",
        ),
        _shuf,
    ),
    "split": Program(
        build_spec("-ez -b= -C= -l= -n= -t= --bytes= --lines= --number= --verbose"),
        _split,
    ),
    "csplit": Program(
        build_spec("-ksqz -f= --prefix= --keep-files --quiet --silent --elide-empty-files"),
        _csplit,
    ),
    "sed": SED_PROGRAM,
    **dict.fromkeys(SUFFIXES, Program(build_spec(COMPRESS, "-*"), _compress)),
    **COPIERS,
}
