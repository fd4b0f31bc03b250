# Copies PostgreSQL 17 and the libraries that it needs out of the Debian root in which this runs, to /out,
# and sets its programs to the loader and the libraries of their later folder:
#
#   sh collect.sh <folder>
#
# PostgreSQL finds its extensions and its data beside its programs, so it then runs there as it is, on a
# system whose own libraries are older.
set -eu
folder=$1
bin=/usr/lib/postgresql/17/bin
mkdir -p /out/usr/lib/postgresql /out/usr/share/postgresql /out/lib
cp -a /usr/lib/postgresql/17 /out/usr/lib/postgresql/
cp -rL /usr/share/postgresql/17 /out/usr/share/postgresql/
# Compiling queries is switched off in the tests, and LLVM is larger than all the rest.
rm -rf /out/usr/lib/postgresql/17/lib/llvmjit.so /out/usr/lib/postgresql/17/lib/bitcode
loader=$(patchelf --print-interpreter "$bin/postgres")
cp -L "$loader" /out/lib/
for file in /out/usr/lib/postgresql/17/bin/* /out/usr/lib/postgresql/17/lib/*.so; do
  ldd "$file" | sed -n 's/.*=> \(\/[^ ]*\) .*/\1/p'
done | sort -u | while read -r library; do
  cp -L "$library" /out/lib/
done
for file in /out/usr/lib/postgresql/17/bin/*; do
  patchelf --set-interpreter "$folder/lib/${loader##*/}" --force-rpath --set-rpath "$folder/lib" "$file"
done
