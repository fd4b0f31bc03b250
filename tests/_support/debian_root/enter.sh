# Runs a command in a Debian root, in mount and process namespaces of its own, which unshare(1) has
# made: when the command ends, nothing stays mounted and nothing runs on.
#
#   sh enter.sh <lower layers> <use> [<source> <target>]… -- <command>…
#
# The layers are folders, joined by colons, relative to the working directory (mount takes no colon in
# their names). <use> is a folder with the folders upper, work and root; what the command writes goes
# to upper. Each <source> is mounted at <target> of the root.
set -eu
lower=$1 use=$2
shift 2
root=$use/root
mount -t overlay -o "lowerdir=$lower,upperdir=$use/upper,workdir=$use/work" overlay "$root"
mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666,mode=0620,gid=5 devpts "$root/dev/pts"
while [ "$1" != -- ]; do
  mkdir -p "$root$2"
  mount --bind "$1" "$root$2"
  shift 2
done
shift
exec chroot "$root" "$@"
