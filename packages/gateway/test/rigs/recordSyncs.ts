import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

export interface SyncRecorder {
  /** Paths of the files and directories that were synced, in order. */
  readonly paths: readonly string[];
  /** Gives Node's functions back. */
  stop(): void;
}

/** Writes down what this process syncs from now on: what a loss of power would take cannot be seen in any other way. */
export function recordSyncs(): SyncRecorder {
  const { openSync, fsyncSync } = fs;
  const { open } = fs.promises;
  const paths: string[] = [];
  const opened = new Map<number, string>();
  fs.openSync = (path, ...rest) => {
    const descriptor = openSync(path, ...rest);
    opened.set(descriptor, String(path));
    return descriptor;
  };
  fs.fsyncSync = (descriptor) => {
    fsyncSync(descriptor);
    paths.push(opened.get(descriptor) ?? '');
  };
  fs.promises.open = async (path, ...rest) => {
    const handle = await open(path, ...rest);
    const sync = handle.sync.bind(handle);
    handle.sync = async () => {
      await sync();
      paths.push(String(path));
    };
    return handle;
  };
  syncBuiltinESMExports();
  return {
    paths,
    stop() {
      Object.assign(fs, { openSync, fsyncSync });
      fs.promises.open = open;
      syncBuiltinESMExports();
    },
  };
}
