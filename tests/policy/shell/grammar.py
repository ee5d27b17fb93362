"""Random commands out of harmless pieces, to be run for real in a scratch folder.

Every piece names files of the scratch tree or new ones beside them. Nothing leaves the workspace but
through `..` of the folder that a `cd` has entered, which ends in the scratch base.
"""

from __future__ import annotations

from hypothesis import strategies as st

FILES = ["top.txt", "src/b.txt", "src/auth/a.ts", "docs/g.md", "v1.d/in.txt"]
NEW = ["n1", "n.txt", "src/n2", "docs/n3.md", "empty/n4", "a b", "src/auth/../n5", "./n6", "v1.d/n7"]
FOLDERS = ["src", "docs", "empty", "src/auth", "v1.d", "new.d", "nd", "nosuch", "..", "."]
QUOTES = ["{}", "'{}'", '"{}"']


def quoted(names):
    """A name, spelled in a way that bash takes back to the same name."""

    def spell(name, quote):
        return quote.format(name) if quote != "{}" else name.replace(" ", "\\ ")

    return st.builds(spell, st.sampled_from(names), st.sampled_from(QUOTES))


EXECUTED = [
    "rm -f",
    "rm -rf",
    "rm -f top.txt",
    "cat",
    "wc -l",
    "grep -e",
    "touch",
    "head -n",
    "cp top.txt",
    "tee",
]

MATCHED = ["src/*.txt", "docs/*", "src/auth/[ab].ts", "*/?.md", "src/*/*.ts", "v1.d/i*"]
old, new, folder = quoted(FILES), quoted(NEW), quoted(FOLDERS)
anywhere = st.one_of(old, new)
braces = st.sampled_from(["src/{x,y}", "n{1..3}", "{docs,src}/z", "{a,b}{1,2}", "docs/{p,q{r,s}}.md"])
variable = st.sampled_from(['"$v"', "$v", "${v}.x", '"src/$v"'])
target = st.one_of(anywhere, braces, variable)


def built(pattern, *parts):
    return st.builds(pattern.format, *parts)


SIMPLE = st.one_of(
    built("touch {}", target),
    built("touch {} {}", new, target),
    built("rm -f {}", target),
    built("rm -rf {}", st.sampled_from(["src/auth", "docs", "nd", "new.d", "empty"])),
    built("mkdir {}", st.sampled_from(["nd", "new.d", "src/nd"])),
    built("mkdir -p {}", st.sampled_from(["nd/e/f", "new.d/g", "src/auth/h"])),
    built("rmdir {}", st.sampled_from(["empty", "nd", "-p nd/e/f"])),
    built("cp {} {}", old, st.one_of(anywhere, folder)),
    built("cp {} {} {}", old, old, folder),
    built("cp -r {} {}", st.sampled_from(["src", "docs/.", "src/auth", "v1.d"]), folder),
    built("cp -t {} {}", folder, old),
    built("mv {} {}", old, st.one_of(anywhere, folder)),
    built("mv {} {}", st.sampled_from(["src/auth", "docs", "empty", "v1.d"]), folder),
    built("ln -s {} {}", st.sampled_from(["src", "top.txt", "../docs", "nosuch"]), st.one_of(new, folder)),
    built("ln -f {} {}", old, st.one_of(new, folder)),
    built("install -m 600 {} {}", old, st.one_of(new, folder)),
    built("install -d {}", st.sampled_from(["nd/i", "new.d"])),
    built("chmod {} {}", st.sampled_from(["600", "+x", "-w"]), anywhere),
    built("truncate -s 3 {}", target),
    built("dd if=top.txt of={} status=none", st.sampled_from(["n1", "src/b.txt", "nd/x"])),
    built("sed -i s/x/y/ {}", old),
    built("sed -i.bak -e s/x/y/ {}", old),
    built("sed -n 'w n1' {}", old),
    built("sort -o {} {}", new, old),
    built("uniq {} {}", old, new),
    built("tee {} {} < top.txt", target, new),
    built("find {} -name '*.ts' -delete", st.sampled_from(["src", "docs", ". -maxdepth 2"])),
    built("gzip -f {}", old),
    built("tar -cf {} src", new),
    built("touch -c -r top.txt {}", target),
    built("chmod -R u+r {}", st.sampled_from(["src/auth", "docs", "empty", "top.txt"])),
    built("chmod 644 {} {}", old, old),
    built("cp -n {} {}", old, anywhere),
    built("cp -pf {} {}", old, anywhere),
    built("cp -a {} {}", st.sampled_from(["src/auth", "docs/.", "empty"]), folder),
    built("mv -n {} {}", old, st.one_of(anywhere, folder)),
    built("mv -t {} {}", folder, old),
    built("ln -sfn {} {}", st.sampled_from(["src", "top.txt"]), st.one_of(new, folder)),
    built("ln {} {}", old, new),
    built("install -D {} {}", old, st.sampled_from(["nd/p/q", "src/r", "'a b'/s"])),
    built("mkdir -pm 700 {}", st.sampled_from(["nd/e", "src/auth", "empty/f/g"])),
    built("truncate -s 0 {}", target),
    built("dd if=top.txt of={} conv=notrunc status=none", old),
    built("sed -n -e '1w n1' -e '$w src/n2' {}", old),
    built("sed -i -e 's/x/y/w docs/n3.md' {}", old),
    built("sort -u {} -o {}", old, old),
    built("tee -a {} < /dev/null", target),
    built("split -l 1 {} {}", old, new),
    built("find {} -type f -fprint {}", st.sampled_from(["src", "docs"]), new),
    built("find {} -empty -delete", st.sampled_from(["empty", "src/auth"])),
    built("find {} -type f -exec {} {{}} +", st.sampled_from(["src", "docs"]), st.sampled_from(EXECUTED)),
    built("find {} -type f -exec {} {{}} \\;", folder, st.sampled_from(EXECUTED)),
    built("ls {} | xargs -I{{}} {} {{}}", folder, st.sampled_from(EXECUTED)),
    built("touch $(pwd)/{}", st.sampled_from(NEW[:4])),
    built('cp {} "$(pwd)/n8"', old),
    built("shuf -e a b -o {}", target),
    built("rm -rf {}", st.sampled_from(MATCHED)),
    built("chmod 600 {}", st.sampled_from(MATCHED)),
    built("sed -i s/x/y/ {}", st.sampled_from(MATCHED)),
    built('for f in {}; do {} "$f"; done', st.sampled_from(MATCHED), st.sampled_from(EXECUTED)),
    built("unlink {}", old),
    built("v={}", st.sampled_from(["n1", "'a b'", "docs/w", "x.d"])),
    st.sampled_from(["ls", "cat top.txt", "true", "false", "pwd", "echo hi", "exit", ":"]),
    built("cd {}", folder),
    built("pushd {}", folder),
    st.just("popd"),
)
REDIRECTED = st.one_of(
    SIMPLE,
    built("{} > {}", SIMPLE, target),
    built("echo x >> {} 2>&1", target),
    built("{} 2> {} > /dev/null", SIMPLE, new),
    built("{} 3<> {}", SIMPLE, target),
    built("{} &>> {}", SIMPLE, target),
    built("{} >| {}", SIMPLE, target),
    built("> {}", target),
    built("[ a > {} ]", new),
    built("cat <<E > {}\nhi $v\nE\n", new),
    built("{} < {}", SIMPLE, anywhere),
)


def joined(inner):
    return st.one_of(
        built("{} && {}", inner, inner),
        built("{} || {}", inner, inner),
        built("{}; {}", inner, inner),
        built("{}\n{}", inner, inner),
        built("{} | {}", inner, inner),
        built("({})", inner),
        built("{{ {}\n}}", inner),
        built("! {{ {}\n}}", inner),
        built("if {}\nthen {}\nelse {}\nfi", inner, inner, inner),
        built("if {}\nthen {}\nfi", inner, inner),
        built("for v in n1 docs/w 'a b'; do {}\ndone", inner),
        built("for v in src docs; do {}\nbreak\ndone", inner),
        built("while {}\ndo {}\nbreak\ndone", inner, inner),
        built('case "$v" in n*) {}\n;; *) {}\n;; esac', inner, inner),
        built("echo $({})", inner),
        built("{{ {}\n}} & wait", inner),
    )


# A here-document must end its line, so nothing may follow it there.
COMMANDS = st.recursive(REDIRECTED, joined, max_leaves=6)
