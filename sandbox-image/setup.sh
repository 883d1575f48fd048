#!/bin/sh
# Runs as root inside the image's file system after the packages are there, with mmdebstrap and with a Dockerfile alike.
set -eu
mkdir -p /workspace
chmod 1777 /tmp
# Nothing in a sandbox may gain privileges (it runs with no-new-privileges), so no file needs these bits.
find / -xdev -type f -perm /6000 -exec chmod a-s {} +
find /usr/share/doc -type f ! -name copyright -delete
find /usr/share/doc -depth \( -type l -o -type d -empty \) -delete
# apt's folders stay, and so does all else in /tmp: mmdebstrap keeps the configuration there by which its apt knows this
# file system from the machine's own.
find /var/lib/apt/lists /var/cache/apt -type f -delete
rm -rf /usr/share/man/* /usr/share/info/* /usr/share/locale/* /usr/share/lintian /usr/share/bash-completion \
  /usr/share/bug /usr/share/gitweb /var/cache/debconf/*-old /var/cache/ldconfig/* /var/lib/dpkg/*-old /var/log/* \
  /etc/machine-id /etc/hostname /etc/resolv.conf /tmp/setup.sh /tmp/packages.txt 2>/dev/null || true
