"""The local web page: server-rendered steps from a file to its report, all on this machine.

What the page does, it does by running the command line that it shows. State lives in a folder,
one folder a run (`folder`); files are looked at (`inspection`) and runs are made (`worker`) by
processes of their own, so that the page stays small and a run outlives it.
"""
