import { setFlagsFromString } from 'node:v8';
import { runInThisContext } from 'node:vm';

/**
 * Tells whether the engine keeps an object's properties at known places, and not in a table of its own, which each object then has.
 *
 * @see https://v8.dev/blog/fast-properties
 */
export function hasFastShape(object: object): boolean {
  setFlagsFromString('--allow-natives-syntax');
  try {
    const ask: (object: object) => boolean = runInThisContext('(object) => %HasFastProperties(object)');
    // It is compiled when it is called.
    return ask(object);
  } finally {
    setFlagsFromString('--no-allow-natives-syntax');
  }
}
