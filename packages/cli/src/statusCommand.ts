import { evaluateState } from '@prism-gateway/console/state';
import type { Command } from './command.ts';
import { writeStats } from './statsCommand.ts';
import { plain } from './writeTable.ts';

type StateParts = Parameters<typeof evaluateState>[0];

/** Rows of each table: strangers name chains, and whoever floods them must not push the rest off the screen. */
const SHOWN_ROWS = 10;

/** Is all well, and if not, what is to be done? As the console's overview shows it. */
export const statusCommand: Command = {
  name: 'status',
  takes: '',
  summary: 'says whether all is well, and if not, what to do; exit code 0 in any case',
  options: {},
  async run({ call, json, print }) {
    const paths = ['stats', 'relayers', 'webhooks'];
    const answers = await Promise.all(paths.map((path) => call({ path: `/admin/${path}` })));
    // The gateway's own answers, which its tests hold against their schemas.
    const [stats, { relayers }, { webhooks }] = answers as unknown as [
      StateParts['stats'] & Record<string, unknown>,
      Pick<StateParts, 'relayers'>,
      Pick<StateParts, 'webhooks'>,
    ];
    const worries = evaluateState({ stats, relayers, webhooks, now: Date.now() });
    if (json) return print(JSON.stringify({ ok: worries.length === 0, worries, stats }));
    const lines = worries.map(({ text, todo }) => `  ${plain(text)}: ${plain(todo)}`);
    print([worries.length === 0 ? 'All is well.' : `${worries.length} things need you:`, ...lines].join('\n'));
    print(`\n${writeStats(stats, SHOWN_ROWS)}`);
  },
};
