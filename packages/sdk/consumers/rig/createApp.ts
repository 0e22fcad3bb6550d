import { execFile } from 'node:child_process';
import { globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A folder of its own, somewhere outside the repository. */
export interface AppFolder extends Disposable {
  readonly path: string;
  /** Runs a program there. @returns what it printed @throws Error with what it printed, if it fails */
  run(command: string, ...args: readonly string[]): Promise<string>;
  /** Installs packages from the registry, and the tarballs. */
  install(...packages: readonly string[]): Promise<void>;
  /** @returns how many copies of a package there are */
  countCopies(name: string): number;
}

/** npm tells its children which folder it runs in: these are in another. */
export function ownEnvironment(): NodeJS.ProcessEnv {
  const inherited = /^npm_(config_local_prefix|config_prefix|package_.*|lifecycle_.*)$/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !inherited.test(name)));
}

/** @param path - of a folder that is there; default a fresh one */
export function createApp(path = mkdtempSync(join(tmpdir(), 'prism-app-'))): AppFolder {
  async function runThere(command: string, ...args: readonly string[]): Promise<string> {
    try {
      return (await run(command, args, { cwd: path, env: ownEnvironment() })).stdout;
    } catch (error) {
      const { stdout, stderr } = error as { readonly stdout?: string; readonly stderr?: string };
      throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}\n${stderr}`, { cause: error });
    }
  }
  return {
    path,
    run: runThere,
    async install(...packages) {
      await runThere('npm', 'install', '--no-audit', '--no-fund', '--prefer-offline', '--save-exact', ...packages);
    },
    countCopies: (name) => globSync(join(path, `**/node_modules/${name}/package.json`)).length,
    [Symbol.dispose]: () => rmSync(path, { recursive: true }),
  };
}
