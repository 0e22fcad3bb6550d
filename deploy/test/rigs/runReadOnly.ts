import { type ChildProcess, spawn } from 'node:child_process';

/** The run configuration of an image. */
export interface ImageConfig {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
}

/** Mounts as a container's manager does: the root read-only, the data and /tmp writable. Its arguments: root, user, command. */
const SCRIPT = `
set -e
PATH=$PATH:/usr/sbin:/sbin
root=$1 user=$2; shift 2
mount --bind "$root" "$root"
mount -o remount,ro,bind "$root"
mount -t tmpfs -o "uid=\${user%:*},gid=\${user#*:},mode=0700" tmpfs "$root/data"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
exec chroot --userspec="$user" "$root" "$@"
`;

/**
 * Runs a command of an image as its user, on its root, which is read-only: what a container is but for its own network and processes,
 * which not every sandbox allows.
 *
 * @param root - where the image is mounted
 * @param options.config - of the image
 * @param options.command - in the place of its own
 * @param options.env - on top of the image's own
 */
export function runReadOnly(
  root: string,
  options: {
    readonly config: ImageConfig;
    readonly command: readonly string[];
    readonly env?: Readonly<Record<string, string>>;
  },
): ChildProcess {
  const { config, command } = options;
  const own = Object.fromEntries(
    config.Env.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );
  const args = ['--mount', '--propagation', 'private', 'sh', '-c', SCRIPT, 'sh', root, config.User, ...command];
  // The system's own path is for the script: what it runs is named by its whole path.
  const env = { PATH: process.env.PATH ?? '', ...own, ...options.env };
  return spawn('unshare', args, { env: { ...env, PATH: process.env.PATH ?? '' }, stdio: ['ignore', 'pipe', 'pipe'] });
}
