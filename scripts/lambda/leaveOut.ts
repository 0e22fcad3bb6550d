import type { Plugin } from 'esbuild';

/** Modules that are imported for little or nothing, and what is put in their places. */
const substitutes: Readonly<Record<string, string>> = {
  // Of services that stream events; DynamoDB has none.
  '@smithy/core/event-streams': 'export {};',
  // Of the discovery of endpoints, which is off unless it is asked for; a cache without a bound serves it as well.
  'mnemonist/lru-cache': 'export default class extends Map { constructor() { super(); } }',
  // An import reads all that Node would load when first asked for: the standard streams, reports, workers.
  'node:process': 'export const { env, versions } = process;',
  'node:util': `export const promisify = (call) => (...given) =>
    new Promise((resolve, reject) => call(...given, (error, value) => (error ? reject(error) : resolve(value))));`,
};

/**
 * Leaves out what takes its time at a cold start and serves nothing here. Where more of such a module is imported than its
 * substitute has, the build fails.
 */
export const leaveOut: Plugin = {
  name: 'leave-out',
  setup({ onResolve, onLoad }) {
    const namespace = 'leave-out';
    const filter = /^(?:@smithy\/core\/event-streams|mnemonist\/lru-cache|node:process|node:util)$/;
    onResolve({ filter }, ({ path }) => ({ path, namespace }));
    onLoad({ filter: /./, namespace }, ({ path }) => ({ contents: substitutes[path] ?? '', loader: 'js' }));
  },
};
