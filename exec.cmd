@rem Windows' command line has no `exec`, with which package.json's scripts spare the shell's process; it finds this file in its place.
@%*
