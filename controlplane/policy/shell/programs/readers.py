"""Programs that only read, with every option that keeps it so.

An entry is safe with these options and no others. Left out on purpose: options that write or run something
(`rg --pre`, `file -C`, `date -s`), pagers, and programs that run what a file of the workspace says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from controlplane.policy.paths.raw_path import PatternUse
from controlplane.policy.shell.lexical_path import is_inside
from controlplane.policy.shell.options import OptionSpec, ParsedOptions, build_spec
from controlplane.policy.shell.program_call import (
    CustomProgram,
    KnownProgram,
    Program,
    ProgramCall,
    record_operands,
)
from controlplane.policy.shell.programs.awk import AWK
from controlplane.policy.shell.programs.jq import run_jq
from controlplane.policy.shell.programs.test import check_test_words, read_tested_files
from controlplane.policy.shell.result import UnclearCommandError
from controlplane.policy.shell.wildcards import regex_to_glob
from controlplane.policy.shell.word import Word

LS = (
    "-aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ1 -I= -w= -T= --all --almost-all --author --block-size= --color? "
    "--classify? --directory --file-type --format= --full-time --group-directories-first --no-group "
    "--human-readable --si --ignore= --indicator-style= --inode --kibibytes --dereference --numeric-uid-gid "
    "--literal --quote-name --reverse --recursive --size --sort= --time= --time-style= --width= --zero"
)
GREP = (
    "-EFGPwxziIvchHlLnoqsrRyUabuTZ -m= -e= -f=r -A= -B= -C= -d= -D= --extended-regexp --fixed-strings "
    "--basic-regexp --perl-regexp --ignore-case --no-ignore-case --word-regexp --line-regexp --null-data "
    "--invert-match --count --with-filename --no-filename --files-with-matches --files-without-match "
    "--line-number --only-matching --quiet --silent --no-messages --recursive --dereference-recursive "
    "--binary --text --null --initial-tab --byte-offset --line-buffered --max-count= --regexp= --file=r "
    "--after-context= --before-context= --context= --directories= --devices= --binary-files= --include= "
    "--exclude= --exclude-from=r --exclude-dir= --label= --color? --colour?"
)
RG = (
    "-ivwxlcnNoqsSFPUu0HIhLaVp -e= -f=r -g= -t= -T= -A= -B= -C= -m= -r= -d= -j= -E= -M= --ignore-case "
    "--smart-case --case-sensitive --invert-match --word-regexp --line-regexp --files-with-matches "
    "--files-without-match --count --count-matches --line-number --no-line-number --only-matching --quiet "
    "--fixed-strings --pcre2 --multiline --multiline-dotall --unrestricted --null --with-filename "
    "--no-filename --hidden --no-ignore --no-ignore-vcs --no-heading --heading --follow --text --json "
    "--files --sort= --sortr= --regexp= --file=r --glob= --iglob= --type= --type-not= --type-list "
    "--after-context= --before-context= --context= --max-count= --max-depth= --max-columns= --replace= "
    "--threads= --encoding= --color= --colors= --column --trim --stats --vimgrep --pretty --no-messages "
    "--max-filesize= --passthru --context-separator= --no-config --one-file-system --crlf --byte-offset"
)
DIFF = (
    "-qsceuybBwEZiatprNTdH0123456789 -C= -U= -W= -I= -x= -F= -L= -S= --brief --report-identical-files "
    "--context? --unified? --normal --side-by-side --width= --suppress-common-lines --left-column "
    "--ignore-case --ignore-all-space --ignore-space-change --ignore-trailing-space --ignore-blank-lines "
    "--ignore-matching-lines= --text --recursive --new-file --unidirectional-new-file --exclude= --color? "
    "--label= --minimal --strip-trailing-cr --show-c-function --no-dereference --speed-large-files"
)
GREP_RECURSIVE = ("-r", "-R", "--recursive", "--dereference-recursive")
NAME_FILTERS = ("--include", "-g", "--glob", "--iglob")
SUMS = "-bctwz --binary --check --tag --text --zero --ignore-missing --quiet --status --strict --warn"
FD = (
    "-HIusigapLF01lq -t= -e= -d= -E= -S= -c= -j= --hidden --no-ignore --unrestricted --case-sensitive "
    "--ignore-case --glob --fixed-strings --absolute-path --full-path --follow --print0 --list-details "
    "--type= --extension= --max-depth= --min-depth= --exact-depth= --exclude= --size= --color= "
    "--max-results= --quiet --changed-within= --changed-before="
)


def _grep(call: ProgramCall, parsed: ParsedOptions) -> None:
    """Run `grep` or `rg`: the first operand is the pattern, unless an option gives it."""
    has_pattern = parsed.has("-e", "-f", "--regexp", "--file", "--files", "--type-list")
    record_operands(call, parsed.operands, "r*" if has_pattern else "-r*")
    files = parsed.operands if has_pattern else parsed.operands[1:]
    is_recursive = call.name == "rg" or parsed.has(*GREP_RECURSIVE)
    if not files and is_recursive:
        call.read_cwd()
    if is_recursive:
        _record_search(call, parsed, files)


def _record_search(call: ProgramCall, parsed: ParsedOptions, folders: Sequence[Word]) -> None:
    """Record the filters of a search, without one its folders: `rg --files` only lists names."""
    recorder = call.recorder
    add = recorder.add_listed if parsed.has("--files") else recorder.add_pattern
    names = [word.value for word in parsed.values(*NAME_FILTERS)]
    expected = [name for name in names if name and not name.startswith("!")]
    for name in expected:
        for path in call.list_filtered(folders, name):
            add(path, PatternUse.FILTER)
    for path in call.list_filtered(folders, "") if not expected else ():
        add(path, PatternUse.CONTENT)


def _fd(call: ProgramCall, parsed: ParsedOptions) -> None:
    """Run `fd`: a pattern, then directories, by default the current one."""
    record_operands(call, parsed.operands, "-r*")
    if len(parsed.operands) < 2:
        call.read_cwd()
    names = [f"*.{word.value}" for word in parsed.values("-e", "--extension")]
    first = parsed.operands[0].value if parsed.operands else None
    if first and not names:
        names = [first if parsed.has("-g", "--glob") else regex_to_glob(first)]
    for name in names:
        for path in call.list_filtered(parsed.operands[1:], name):
            call.recorder.add_listed(path, PatternUse.FILTER)


def _diff(call: ProgramCall, parsed: ParsedOptions) -> None:
    """Run `diff`: a file and a directory are compared by the file of that name in the directory."""
    record_operands(call, parsed.operands, "r*")
    if parsed.has("-r", "--recursive"):
        for directory in call.list_filtered(parsed.operands, ""):
            call.recorder.add_pattern(directory, PatternUse.CONTENT)
    operands = [(word, (word.value or "").rstrip("/")) for word in parsed.operands]
    recorder, resolved = call.recorder, {path: call.resolve(word) for word, path in operands if path}
    names = {
        path.rpartition("/")[2]
        for path, candidates in resolved.items()
        if not all(map(recorder.is_directory, candidates))
    }
    for word, path in operands:
        if any(is_inside(path.key) and recorder.may_be_directory(path) for path in resolved.get(path, ())):
            for name in names - {"-", path.rpartition("/")[2]}:
                call.read(replace(word, value=f"{path}/{name}", prefix=f"{path}/{name}"))


def _lsof(call: ProgramCall, parsed: ParsedOptions) -> None:
    """Run `lsof`, where `+D directory` and the like are options too."""
    for word in parsed.operands:
        if word.prefix.startswith("+"):
            raise UnclearCommandError(f"the option {word.prefix[:2]} is not known to be safe", word.span)
    record_operands(call, [word for word in parsed.operands if ":" not in word.prefix], "r*")


def _date(_call: ProgramCall, parsed: ParsedOptions) -> None:
    """Run `date`, which sets the clock by an operand without `+`."""
    for word in parsed.operands:
        if not word.prefix.startswith("+"):
            raise UnclearCommandError("sets the clock", word.span)


def _test(call: ProgramCall) -> None:
    check_test_words(call.args)
    read_tested_files(call, call.args)


def _printf(_call: ProgramCall, parsed: ParsedOptions) -> None:
    """Run `printf`. Its `%n` sets the variable that an argument names: PATH, say."""
    formats, arguments = parsed.operands[:1], parsed.operands[1:]
    for word in formats:
        path = "%n" if word.value is None or word.has_wildcard else word.value.replace("%%", "")
        if word.may_split or (arguments and PRINTF_N.search(path)):
            raise UnclearCommandError("may set a variable", word.span)


def _binutils(spec: OptionSpec) -> Callable[[ProgramCall], None]:
    """Build an entry for binutils, which read options out of `@file`, plugins to load among them."""

    def record(call: ProgramCall) -> None:
        for word in call.args:
            if word.prefix[:1] in ("", "@", "*", "?", "[") and word.value != "":
                raise UnclearCommandError("may name a file of options", word.span)
        Program(spec).record_effects(call)

    return record


def _pager(call: ProgramCall) -> None:
    """Run `less` or `more` with the options that only change how a page looks."""
    if any(word.prefix[:1] in {"+", ""} and word.value != "" for word in call.args):
        raise UnclearCommandError("a pager may be given commands")
    _reader("-NSRFXEeMmiIJsnqwrfg", marks="").record_effects(call)


def _record_nothing(_call: ProgramCall) -> None:
    """Record nothing, whatever the arguments are."""


def _reader(options: str, operands: str = "r*", marks: str = "option_safe") -> Program:
    return Program(build_spec(options, operands, marks=marks))


ANY_ARGUMENTS = CustomProgram(_record_nothing, is_option_safe=True)
PRINTF_N = re.compile(r"%[-+ #'0-9*.]*[hlLjtz]*n")

READERS: Mapping[str, KnownProgram] = {
    "ls": _reader(LS, marks="option_safe reads_cwd"),
    "dir": _reader(LS, marks="option_safe reads_cwd"),
    "cat": _reader(
        "-AbeEnstTuv --show-all --number --number-nonblank --squeeze-blank --show-ends --show-tabs"
    ),
    # Without a terminal, as an agent runs them, they print like cat; `+` begins a command of theirs.
    **dict.fromkeys(("less", "more"), CustomProgram(_pager)),
    "head": _reader(
        "-qvz -n= -c= --lines= --bytes= --quiet --silent --verbose", marks="option_safe takes_number"
    ),
    "tail": _reader(
        "-qvzfFr -n= -c= -s= --lines= --bytes= --quiet --silent --verbose --follow? --retry --pid= "
        "--sleep-interval=",
        marks="option_safe takes_number",
    ),
    "wc": _reader("-clLmw --bytes --chars --lines --max-line-length --words"),
    "grep": Program(build_spec(GREP, marks="option_safe takes_number"), _grep),
    "egrep": Program(build_spec(GREP, marks="option_safe takes_number"), _grep),
    "fgrep": Program(build_spec(GREP, marks="option_safe takes_number"), _grep),
    "rg": Program(build_spec(RG), _grep),
    "fd": Program(build_spec(FD), _fd),
    "fdfind": Program(build_spec(FD), _fd),
    "cut": _reader(
        "-nsz -b= -c= -d= -f= --bytes= --characters= --delimiter= --fields= --only-delimited "
        "--complement --output-delimiter="
    ),
    "tr": _reader("-cCdst --complement --delete --squeeze-repeats --truncate-set1", "-*"),
    "comm": _reader("-123z --check-order --nocheck-order --output-delimiter= --total"),
    "cmp": _reader(
        "-bls -i= -n= --print-bytes --verbose --silent --quiet --bytes= --ignore-initial=", "rr--"
    ),
    "diff": Program(build_spec(DIFF), _diff),
    "stat": _reader("-Lfltx -c= --dereference --file-system --format= --printf= --terse"),
    "du": _reader(
        "-0abcDhHklLmPsSx -B= -d= -t= --all --apparent-size --block-size= --bytes --total --max-depth= "
        "--human-readable --summarize --one-file-system --exclude= --si --time?",
        marks="option_safe reads_cwd",
    ),
    "df": _reader("-ahHiklmPTv -B= -t= -x= --all --human-readable --inodes --print-type --total --type="),
    "file": _reader(
        "-biLhkNrsvzE0 -F= -P= --brief --mime --mime-type --mime-encoding --dereference", marks=""
    ),
    "realpath": _reader(
        "-emLPqsz --canonicalize-existing --canonicalize-missing --relative-to=r --relative-base=r "
        "--no-symlinks --quiet"
    ),
    "readlink": _reader(
        "-femnqsvz --canonicalize --canonicalize-existing --canonicalize-missing --no-newline"
    ),
    "basename": _reader("-az -s= --multiple --suffix= --zero", "-*"),
    "dirname": _reader("-z --zero", "-*"),
    "pwd": _reader("-LP", ""),
    "date": Program(
        build_spec(
            "-uRn -d= -r=r -v= -I? -j --date= --reference=r --utc --universal --rfc-email --iso-8601? "
            "--rfc-3339="
        ),
        _date,
    ),
    "echo": ANY_ARGUMENTS,
    "printf": Program(build_spec("", "-*", marks="stops_at_operand"), _printf),  # `printf -v` runs code
    "test": CustomProgram(_test, is_option_safe=True),
    "true": ANY_ARGUMENTS,
    "false": ANY_ARGUMENTS,
    ":": ANY_ARGUMENTS,
    "sleep": _reader("", "-*"),
    "wait": _reader("-nf", "-*"),
    "seq": _reader("-w -f= -s= --equal-width --format= --separator=", "-*", "option_safe takes_number"),
    "expr": _reader("", "-*"),
    "nl": _reader("-p -b= -d= -f= -h= -i= -l= -n= -s= -v= -w=", marks="option_safe"),
    "tac": _reader("-br -s= --before --regex --separator="),
    "rev": _reader(""),
    "paste": _reader("-sz -d= --delimiters= --serial"),
    "join": _reader("-iz -a= -e= -j= -o= -t= -v= -1= -2= --header --check-order"),
    "fold": _reader("-bs -w= --bytes --spaces --width=", marks="option_safe takes_number"),
    "expand": _reader("-i -t= --initial --tabs=", marks="option_safe takes_number"),
    "column": _reader("-txenJ -s= -o= -c= -N= --table --separator= --output-separator= --json"),
    "strings": CustomProgram(
        _binutils(build_spec("-afow -n= -t= -e= --all --bytes= --radix=", marks="takes_number"))
    ),
    "od": _reader("-abcdfiloshxv -A= -j= -N= -t= -w? --address-radix= --skip-bytes= --read-bytes= --format="),
    "hexdump": _reader("-bcCdovx -e= -n= -s= --canonical"),
    "zcat": _reader("-fv", marks=""),
    "base64": _reader("-di -w= --decode --wrap= --ignore-garbage"),
    "jq": CustomProgram(run_jq),
    "tree": _reader(
        "-adfpsuhDFrtUvCnAJXlx -L= -I= -P= --noreport --dirsfirst --prune --gitignore", marks="reads_cwd"
    ),
    "id": _reader("-gGnru", "-*"),
    "whoami": _reader("", ""),
    "uname": _reader("-asnrvmpio --all", ""),
    "nproc": _reader("--all --ignore=", ""),
    "uptime": _reader("-ps", ""),
    "free": _reader("-bkmgh", ""),
    "factor": _reader("", "-*"),
    "ps": _reader("-eAfluxwH -p= -u= -o= -C= --forest --sort= --no-headers", "-*"),
    "printenv": _reader("-0", "-*"),
    "which": _reader("-as --all", "-*"),
    "type": _reader("-afptP", "-*"),
    "tty": _reader("-s", ""),
    "arch": _reader("", ""),
    # Not `option_safe`: some options or operands of these change a setting or run something.
    "hostname": _reader("-fsiIdA --fqdn --short --ip-address", "", ""),
    "umask": _reader("-Sp", "-*", ""),
    "ulimit": _reader("-aSHcdefilmnpqrstuvx", "-*", ""),
    "jobs": _reader("-lnprs", "-*", ""),
    "history": _reader("", "-", ""),
    "groups": _reader("", "-*", ""),
    "users": _reader("", "", ""),
    "who": _reader("-abdHlmpqrsTtuw", "", ""),
    "w": _reader("-hsfio", "-*", ""),
    "locale": _reader("-akcm --all-locales", "-*", ""),
    "getconf": _reader("-a", "-*", ""),
    "tput": _reader("-T=", "-*", ""),
    "lscpu": _reader("-abcJ --json --all", "", ""),
    "lsblk": _reader("-abdfiJlmnOpPrstT -o= --json --output=", "-*", ""),
    "pgrep": _reader("-aflnoxcvi -u= -P= -t= -g= -d=", "-*", ""),
    "pidof": _reader("-sx", "-*", ""),
    "lsof": Program(build_spec("-anPltUbRw -i? -s? -p= -u= -c="), _lsof),
    "ss": _reader(
        "-nltuapxwi46sOHemo --listening --tcp --udp --numeric --processes --all --summary", "-*", ""
    ),
    "netstat": _reader("-nltuapr46sie --listening --tcp --udp --numeric --programs --all --route", "", ""),
    "dpkg": _reader("-lLsS --list --listfiles --status --search", "-*", ""),
    "nm": CustomProgram(_binutils(build_spec("-aACDgnoprSuv"))),
    "size": CustomProgram(_binutils(build_spec("-ABdotx --format="))),
    "readelf": CustomProgram(_binutils(build_spec("-ahlSegtsnrudVAIW"))),
    "objdump": CustomProgram(_binutils(build_spec("-dDhfptTrRxsCw -j= -M="))),
    "bc": _reader("-lqs --mathlib --quiet --standard", "r*", ""),
    **dict.fromkeys(("md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum"), _reader(SUMS)),
    "b2sum": _reader(SUMS),
    "cksum": _reader(""),
    **dict.fromkeys(("awk", "gawk", "mawk"), AWK),
}
