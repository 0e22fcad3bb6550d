import type { Plugin } from 'esbuild';

/** Modules of the AWS SDK that DynamoDB's client names and does not use here, and what is put in their places. */
const substitutes: Readonly<Record<string, string>> = {
  // Of services that stream events; DynamoDB has none.
  '@smithy/core/event-streams': 'export {};',
  // Of the discovery of endpoints, which is off unless it is asked for; a cache without a bound serves it as well.
  'mnemonist/lru-cache': 'export default class extends Map { constructor() { super(); } }',
};

/** Leaves out what the AWS SDK brings along and nothing here calls. */
export const leaveOut: Plugin = {
  name: 'leave-out',
  setup({ onResolve, onLoad }) {
    const namespace = 'leave-out';
    onResolve({ filter: /^(?:@smithy\/core\/event-streams|mnemonist\/lru-cache)$/ }, ({ path }) => ({
      path,
      namespace,
    }));
    onLoad({ filter: /./, namespace }, ({ path }) => ({ contents: substitutes[path] ?? '', loader: 'js' }));
  },
};
