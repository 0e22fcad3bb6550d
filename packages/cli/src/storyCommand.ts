import { describeNow, describeStory } from '@prism-gateway/console/story';
import { needWord } from './answers.ts';
import type { Command, CommandContext } from './command.ts';
import { plain, writeTable } from './writeTable.ts';

type Parts = Parameters<typeof describeStory>[0];

/** How long one look waits for the request to move, in seconds; the gateway takes no longer one. */
const WAIT_SECONDS = '25';
const OPEN = new Set<unknown>(['pending', 'processing']);

/** Names of relayers, by their address in lower case. */
async function readLabels({ call }: CommandContext): Promise<Map<string, string>> {
  // The gateway answers with a list of records.
  const { relayers = [] } = (await call({ path: '/admin/relayers' })) as {
    relayers?: { address: string; label?: string }[];
  };
  return new Map(
    relayers.flatMap(({ address, label }) => (label === undefined ? [] : [[address.toLowerCase(), label]])),
  );
}

/** Reads all that anybody knows of a request. */
async function readParts(context: CommandContext, record: Parts['record']): Promise<Parts> {
  const { call } = context;
  const { requestId } = record;
  const read = async <T>(path: string, query: Record<string, string> = {}): Promise<T> =>
    // The gateway's own answers, which its tests hold against their schemas.
    (await call({ path, query })) as T;
  const [{ programs }, { items: acts }, { webhooks }, labels] = await Promise.all([
    read<Pick<Parts, 'programs'>>('/admin/stats', { about: requestId }),
    read<{ items: Parts['acts'] }>('/admin/audit', { target: requestId, limit: '100' }),
    read<{ webhooks: { webhookId: string; url: string }[] }>('/admin/webhooks'),
    readLabels(context),
  ]);
  const lists = await Promise.all(
    webhooks.map(async ({ webhookId, url }) => {
      const path = `/admin/webhooks/${webhookId}/deliveries`;
      const { items } = await read<{ items: Parts['deliveries'] }>(path, { requestId, limit: '100' });
      return items.map((delivery) => ({ ...delivery, url }));
    }),
  );
  return { record, programs, acts, deliveries: lists.flat(), labels };
}

function writeStory(parts: Parts): string {
  const { status, action, chainName, requestId, signer, params } = parts.record;
  const lines = describeStory(parts).map(({ at, title, text = '', txHash = '' }) =>
    [plain(at), plain(title), ...[text, txHash].filter((more) => more !== '').map(plain)].join('  '),
  );
  const fields = Object.entries(params).map(([name, value]) => [
    ...[`params.${name}`, typeof value === 'object' ? JSON.stringify(value) : value],
  ]);
  return [
    `${plain(requestId)}: ${status}, ${action} of ${plain(signer)} on ${plain(chainName)}`,
    [...lines, `Now: ${plain(describeNow(parts, Date.now()))}`].join('\n'),
    writeTable(fields),
  ].join('\n\n');
}

async function show(context: CommandContext): Promise<void> {
  const { call, json, print, options, signal } = context;
  const path = `/requests/${encodeURIComponent(needWord(context, 'REQUEST_ID'))}`;
  // The gateway answers with a record.
  const read = async (query = {}, ending?: AbortSignal) =>
    (await call({ path, query, signal: ending })) as unknown as Parts['record'];
  let record = await read();
  for (;;) {
    const parts = await readParts(context, record);
    print(json ? JSON.stringify({ ...record, story: describeStory(parts) }) : writeStory(parts));
    if (options.watch === undefined || !OPEN.has(record.status)) return;
    const { status } = record;
    try {
      do record = await read({ seen: status, wait: WAIT_SECONDS }, signal);
      while (record.status === status);
    } catch (error) {
      // Stopped while it waited.
      if (signal.aborted) return;
      throw error;
    }
    if (!json) print('');
  }
}

/** All of one request, and what happened to it, as the console reports it. */
export const storyCommand: Command = {
  name: 'requests show',
  takes: 'REQUEST_ID',
  summary: 'prints the story of one request: who left it and why, what was submitted, how it ended',
  options: {},
  flags: { watch: 'prints it again whenever it moves, until it has ended' },
  run: show,
};
