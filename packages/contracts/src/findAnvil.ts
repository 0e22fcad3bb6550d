import { createRequire } from 'node:module';

/** No devnet could be started; `message` says why. */
export class AnvilStartError extends Error {
  override readonly name = 'AnvilStartError';
  readonly code = 'ANVIL_START_FAILED';
}

const arch = { x64: 'amd64', arm64: 'arm64' } as const;
const platform = { linux: 'linux', darwin: 'darwin', win32: 'win32' } as const;

const lookUp = (names: Readonly<Record<string, string>>, key: string) => names[key];

/**
 * Finds Anvil's program. Not its npm wrapper, a script that starts it as a child: that child would survive a kill.
 *
 * @returns path of the binary
 * @throws AnvilStartError `ANVIL_START_FAILED` where the package has none for this machine
 */
export function findAnvil(): string {
  const machine = `${lookUp(platform, process.platform)}-${lookUp(arch, process.arch)}`;
  const wrapper = createRequire(import.meta.url).resolve('@foundry-rs/anvil/package.json');
  const suffix = process.platform === 'win32' ? '.exe' : '';
  try {
    return createRequire(wrapper).resolve(`@foundry-rs/anvil-${machine}/bin/anvil${suffix}`);
  } catch (error) {
    throw new AnvilStartError(`Anvil has no program for ${process.platform}-${process.arch}.`, { cause: error });
  }
}
