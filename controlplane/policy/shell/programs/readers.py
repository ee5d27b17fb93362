"""Programs that only read, with every option that is known to keep it so.

An entry is safe with these options and no others. Left out on purpose: options that write or run
(`sort --compress-program`, `rg --pre`, `file -C`, `date -s`), pagers, programs that read their
configuration from the workspace and run what it says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from controlplane.policy.shell.command import (
    CustomProgram,
    KnownProgram,
    Program,
    ProgramCall,
    record_operands,
)
from controlplane.policy.shell.lexical_path import is_inside
from controlplane.policy.shell.options import OptionSpec, ParsedOptions, build_spec
from controlplane.policy.shell.programs.awk import AWK
from controlplane.policy.shell.programs.jq import judge_jq
from controlplane.policy.shell.programs.test import check_test_words, read_tested_files
from controlplane.policy.shell.result import UnclearCommandError

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
SUMS = "-bctwz --binary --check --tag --text --zero --ignore-missing --quiet --status --strict --warn"
FD = (
    "-HIusigapLF01lq -t= -e= -d= -E= -S= -c= -j= --hidden --no-ignore --unrestricted --case-sensitive "
    "--ignore-case --glob --fixed-strings --absolute-path --full-path --follow --print0 --list-details "
    "--type= --extension= --max-depth= --min-depth= --exact-depth= --exclude= --size= --color= "
    "--max-results= --quiet --changed-within= --changed-before="
)


def _grep(call: ProgramCall, parsed: ParsedOptions) -> None:
    """The first operand is the pattern, unless an option gave it."""
    has_pattern = parsed.has("-e", "-f", "--regexp", "--file", "--files", "--type-list")
    record_operands(call, parsed.operands, "r*" if has_pattern else "-r*")
    files = parsed.operands if has_pattern else parsed.operands[1:]
    if not files and (call.name == "rg" or parsed.has("-r", "-R", "--recursive", "--dereference-recursive")):
        call.read_cwd()


def _search(call: ProgramCall, parsed: ParsedOptions) -> None:
    """A pattern, then folders; the current one when none is named."""
    record_operands(call, parsed.operands, "-r*")
    if len(parsed.operands) < 2:
        call.read_cwd()


def _diff(call: ProgramCall, parsed: ParsedOptions) -> None:
    """A file beside a folder is compared with the file of its name in there."""
    record_operands(call, parsed.operands, "r*")
    texts = [(word, (word.value or "").rstrip("/")) for word in parsed.operands]
    scene, places = call.recorder, {text: call.resolve(word) for word, text in texts if text}
    names = {
        text.rpartition("/")[2] for text, paths in places.items() if not all(map(scene.is_directory, paths))
    }
    for word, text in texts:
        if any(is_inside(path.key) and scene.may_be_directory(path) for path in places.get(text, ())):
            for name in names - {"-", text.rpartition("/")[2]}:
                call.read(replace(word, value=f"{text}/{name}", prefix=f"{text}/{name}"))


def _lsof(call: ProgramCall, parsed: ParsedOptions) -> None:
    """`+D folder` and the like are options, too."""
    for word in parsed.operands:
        if word.prefix.startswith("+"):
            raise UnclearCommandError(f"{word.prefix[:2]} is not a known option", word.span)
    record_operands(call, [word for word in parsed.operands if ":" not in word.prefix], "r*")


def _date(_call: ProgramCall, parsed: ParsedOptions) -> None:
    """Operands without a `+` set the clock."""
    for word in parsed.operands:
        if not word.prefix.startswith("+"):
            raise UnclearCommandError("sets the clock", word.span)


def _test(call: ProgramCall) -> None:
    check_test_words(call.args)
    read_tested_files(call, call.args)


def _printf(_call: ProgramCall, parsed: ParsedOptions) -> None:
    """The shell's own `%n` sets the variable that an argument names: PATH, say."""
    formats, arguments = parsed.operands[:1], parsed.operands[1:]
    for word in formats:
        text = "%n" if word.value is None or word.has_wildcard else word.value.replace("%%", "")
        if word.may_split or (arguments and COUNTS.search(text)):
            raise UnclearCommandError("may set a variable", word.span)


def _binary(known: OptionSpec) -> Callable[[ProgramCall], None]:
    """Programs that take `@file` for the options and names in that file, plugins to load among them."""

    def judge(call: ProgramCall) -> None:
        for word in call.args:
            if word.prefix[:1] in ("", "@", "*", "?", "[") and word.value != "":
                raise UnclearCommandError("may be a file of options", word.span)
        Program(known).record_effects(call)

    return judge


def _nothing(_call: ProgramCall) -> None:
    """The arguments do not matter."""


def _plain(options: str, operands: str = "r*", marks: str = "option_safe") -> Program:
    return Program(build_spec(options, operands, marks=marks))


ANYTHING = CustomProgram(_nothing, is_option_safe=True)
COUNTS = re.compile(r"%[-+ #'0-9*.]*[hlLjtz]*n")

READERS: Mapping[str, KnownProgram] = {
    "ls": _plain(LS, marks="option_safe reads_cwd"),
    "dir": _plain(LS, marks="option_safe reads_cwd"),
    "cat": _plain(
        "-AbeEnstTuv --show-all --number --number-nonblank --squeeze-blank --show-ends --show-tabs"
    ),
    "head": _plain(
        "-qvz -n= -c= --lines= --bytes= --quiet --silent --verbose", marks="option_safe takes_number"
    ),
    "tail": _plain(
        "-qvzfFr -n= -c= -s= --lines= --bytes= --quiet --silent --verbose --follow? --retry --pid= "
        "--sleep-interval=",
        marks="option_safe takes_number",
    ),
    "wc": _plain("-clLmw --bytes --chars --lines --max-line-length --words"),
    "grep": Program(build_spec(GREP, marks="option_safe takes_number"), _grep),
    "egrep": Program(build_spec(GREP, marks="option_safe takes_number"), _grep),
    "fgrep": Program(build_spec(GREP, marks="option_safe takes_number"), _grep),
    "rg": Program(build_spec(RG), _grep),
    "fd": Program(build_spec(FD), _search),
    "fdfind": Program(build_spec(FD), _search),
    "cut": _plain(
        "-nsz -b= -c= -d= -f= --bytes= --characters= --delimiter= --fields= --only-delimited "
        "--complement --output-delimiter="
    ),
    "tr": _plain("-cCdst --complement --delete --squeeze-repeats --truncate-set1", "-*"),
    "comm": _plain("-123z --check-order --nocheck-order --output-delimiter= --total"),
    "cmp": _plain("-bls -i= -n= --print-bytes --verbose --silent --quiet --bytes= --ignore-initial=", "rr--"),
    "diff": Program(build_spec(DIFF), _diff),
    "stat": _plain("-Lfltx -c= --dereference --file-system --format= --printf= --terse"),
    "du": _plain(
        "-0abcDhHklLmPsSx -B= -d= -t= --all --apparent-size --block-size= --bytes --total --max-depth= "
        "--human-readable --summarize --one-file-system --exclude= --si --time?",
        marks="option_safe reads_cwd",
    ),
    "df": _plain("-ahHiklmPTv -B= -t= -x= --all --human-readable --inodes --print-type --total --type="),
    "file": _plain(
        "-biLhkNrsvzE0 -F= -P= --brief --mime --mime-type --mime-encoding --dereference", marks=""
    ),
    "realpath": _plain(
        "-emLPqsz --canonicalize-existing --canonicalize-missing --relative-to=r --relative-base=r "
        "--no-symlinks --quiet"
    ),
    "readlink": _plain(
        "-femnqsvz --canonicalize --canonicalize-existing --canonicalize-missing --no-newline"
    ),
    "basename": _plain("-az -s= --multiple --suffix= --zero", "-*"),
    "dirname": _plain("-z --zero", "-*"),
    "pwd": _plain("-LP", ""),
    "date": Program(
        build_spec(
            "-uRn -d= -r=r -v= -I? -j --date= --reference=r --utc --universal --rfc-email --iso-8601? "
            "--rfc-3339="
        ),
        _date,
    ),
    "echo": ANYTHING,
    "printf": Program(build_spec("", "-*", marks="stops_at_operand"), _printf),  # `printf -v` runs code
    "test": CustomProgram(_test, is_option_safe=True),
    "true": ANYTHING,
    "false": ANYTHING,
    ":": ANYTHING,
    "sleep": _plain("", "-*"),
    "wait": _plain("-nf", "-*"),
    "seq": _plain("-w -f= -s= --equal-width --format= --separator=", "-*", "option_safe takes_number"),
    "expr": _plain("", "-*"),
    "nl": _plain("-p -b= -d= -f= -h= -i= -l= -n= -s= -v= -w=", marks="option_safe"),
    "tac": _plain("-br -s= --before --regex --separator="),
    "rev": _plain(""),
    "paste": _plain("-sz -d= --delimiters= --serial"),
    "join": _plain("-iz -a= -e= -j= -o= -t= -v= -1= -2= --header --check-order"),
    "fold": _plain("-bs -w= --bytes --spaces --width=", marks="option_safe takes_number"),
    "expand": _plain("-i -t= --initial --tabs=", marks="option_safe takes_number"),
    "column": _plain("-txenJ -s= -o= -c= -N= --table --separator= --output-separator= --json"),
    "strings": CustomProgram(
        _binary(build_spec("-afow -n= -t= -e= --all --bytes= --radix=", marks="takes_number"))
    ),
    "od": _plain("-abcdfiloshxv -A= -j= -N= -t= -w? --address-radix= --skip-bytes= --read-bytes= --format="),
    "hexdump": _plain("-bcCdovx -e= -n= -s= --canonical"),
    "zcat": _plain("-fv", marks=""),
    "base64": _plain("-di -w= --decode --wrap= --ignore-garbage"),
    "jq": CustomProgram(judge_jq),
    "tree": _plain(
        "-adfpsuhDFrtUvCnAJXlx -L= -I= -P= --noreport --dirsfirst --prune --gitignore", marks="reads_cwd"
    ),
    "id": _plain("-gGnru", "-*"),
    "whoami": _plain("", ""),
    "uname": _plain("-asnrvmpio --all", ""),
    "nproc": _plain("--all --ignore=", ""),
    "uptime": _plain("-ps", ""),
    "free": _plain("-bkmgh", ""),
    "factor": _plain("", "-*"),
    "ps": _plain("-eAfluxwH -p= -u= -o= -C= --forest --sort= --no-headers", "-*"),
    "printenv": _plain("-0", "-*"),
    "which": _plain("-as --all", "-*"),
    "type": _plain("-afptP", "-*"),
    "tty": _plain("-s", ""),
    "arch": _plain("", ""),
    # No names from elsewhere for these: as options or operands, some change a setting or run something.
    "hostname": _plain("-fsiIdA --fqdn --short --ip-address", "", ""),
    "umask": _plain("-Sp", "-*", ""),
    "ulimit": _plain("-aSHcdefilmnpqrstuvx", "-*", ""),
    "jobs": _plain("-lnprs", "-*", ""),
    "history": _plain("", "-", ""),
    "groups": _plain("", "-*", ""),
    "users": _plain("", "", ""),
    "who": _plain("-abdHlmpqrsTtuw", "", ""),
    "w": _plain("-hsfio", "-*", ""),
    "locale": _plain("-akcm --all-locales", "-*", ""),
    "getconf": _plain("-a", "-*", ""),
    "tput": _plain("-T=", "-*", ""),
    "lscpu": _plain("-abcJ --json --all", "", ""),
    "lsblk": _plain("-abdfiJlmnOpPrstT -o= --json --output=", "-*", ""),
    "pgrep": _plain("-aflnoxcvi -u= -P= -t= -g= -d=", "-*", ""),
    "pidof": _plain("-sx", "-*", ""),
    "lsof": Program(build_spec("-anPltUbRw -i? -s? -p= -u= -c="), _lsof),
    "ss": _plain(
        "-nltuapxwi46sOHemo --listening --tcp --udp --numeric --processes --all --summary", "-*", ""
    ),
    "netstat": _plain("-nltuapr46sie --listening --tcp --udp --numeric --programs --all --route", "", ""),
    "dpkg": _plain("-lLsS --list --listfiles --status --search", "-*", ""),
    "nm": CustomProgram(_binary(build_spec("-aACDgnoprSuv"))),
    "size": CustomProgram(_binary(build_spec("-ABdotx --format="))),
    "readelf": CustomProgram(_binary(build_spec("-ahlSegtsnrudVAIW"))),
    "objdump": CustomProgram(_binary(build_spec("-dDhfptTrRxsCw -j= -M="))),
    "bc": _plain("-lqs --mathlib --quiet --standard", "r*", ""),
    **dict.fromkeys(("md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum"), _plain(SUMS)),
    "b2sum": _plain(SUMS),
    "cksum": _plain(""),
    **dict.fromkeys(("awk", "gawk", "mawk"), AWK),
}
