import { gatewaySettings } from '@prism-gateway/gateway/settings';
import { type Setting, type Settings, writeSettingsPage } from '@prism-gateway/node/settings';
import { gasMonitorSettings, paymentsSettings } from '@prism-gateway/payments/settings';
import { relayerSettings } from '@prism-gateway/relayer/settings';
import { watchtowerSettings } from '@prism-gateway/relayer/watch-settings';
import { expect, test } from 'vitest';

const PROGRAMS = {
  Gateway: gatewaySettings,
  Relayer: relayerSettings,
  Watchtower: watchtowerSettings,
  'Payment relayer': paymentsSettings,
  'Gas monitor': gasMonitorSettings,
};

/** Writes a program's own settings, and names those that an earlier program has as well. */
function writePart(title: string, known: Map<Setting, string>): string {
  const settings: Settings = PROGRAMS[title as keyof typeof PROGRAMS];
  const shared = Object.entries(settings).filter(([, entry]) => known.has(entry));
  const own = Object.entries(settings).filter(([, entry]) => !known.has(entry));
  for (const [, entry] of own) known.set(entry, title);
  const others = [...Map.groupBy(shared, ([, entry]) => known.get(entry))].map(
    ([other, entries]) => `As of the ${other?.toLowerCase()}: ${entries.map(([name]) => `\`${name}\``).join(', ')}.`,
  );
  return [`## ${title}`, ...others, writeSettingsPage(Object.fromEntries(own)).trim()].join('\n\n');
}

test('docs/settings.md has every setting of every program', async () => {
  const known = new Map<Setting, string>();
  const parts = Object.keys(PROGRAMS).map((title) => writePart(title, known));
  await expect(`# Settings

Settings are environment variables; an empty one counts as unset. In brackets stands the default. A secret may come from a file: \`NAME_FILE\`
names it. A start names every fault at once and repeats no value; a variable whose name is almost a setting's is named in the log.

This page is written by \`npm test -- scripts/documents -u\`.

${parts.join('\n\n')}
`).toMatchFileSnapshot('../../docs/settings.md');
});
