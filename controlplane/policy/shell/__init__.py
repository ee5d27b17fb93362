"""What a shell command would read, write and run, without running it."""

from controlplane.policy.shell.analyse import analyse, analyse_cmd, analyse_powershell
from controlplane.policy.shell.result import Part, ShellAnalysis, ShellPath

__all__ = ["Part", "ShellAnalysis", "ShellPath", "analyse", "analyse_cmd", "analyse_powershell"]
