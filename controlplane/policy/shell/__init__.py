"""Static analysis of shell commands: what they would read, write and run."""

from controlplane.policy.shell.analyse import analyse, analyse_cmd, analyse_powershell
from controlplane.policy.shell.result import CommandPart, ShellAnalysis, ShellPath

__all__ = ["CommandPart", "ShellAnalysis", "ShellPath", "analyse", "analyse_cmd", "analyse_powershell"]
