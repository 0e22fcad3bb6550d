/** `npx prism attack`: attacks an installation without a key, and says how an honest client fares meanwhile. */
import { parseArgs } from 'node:util';
import { type AttackName, attacks } from './attacks.ts';
import { describeReport } from './describeReport.ts';
import { type AttackSizes, COMBINED, FULL_SIZES, runAttacks } from './runAttacks.ts';

// The keys are the attacks' names.
const list = (Object.keys(attacks) as AttackName[]).map(
  (name) => `  ${name.padEnd(14)}${attacks[name].summary}; ${FULL_SIZES[name]} connections`,
);

const usage = `npx prism attack --url URL [options]
Attacks an installation of yours without any key, stores nothing in it, and times an honest client beside the attack. It exits
with 1 if a call of that client failed.

  --url URL        what is attacked, like http://127.0.0.1:8787
  --only LIST      of the attacks below, all at once (default: ${Object.keys(COMBINED).join(',')})
  --scale SHARE    of the full number of connections (default 1)
  --seconds N      how long it goes on once all connections were tried (default 20)
  --pid PID        the process that is attacked, if it is on this machine (Linux): its memory is shown too
  --help           this text

Attacks:
${list.join('\n')}

Its connections need file handles: see ulimit -n. Attack what is yours, and nothing else.`;

class UsageError extends Error {}

const isAttack = (name: string): name is AttackName => Object.hasOwn(attacks, name);

function readNumber(name: string, text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value <= 0)
    throw new UsageError(`--${name}: expected a number above 0.`);
  return value;
}

function readSizes(only: string, scale: number): AttackSizes {
  const names = only.split(',').map((name) => name.trim());
  const sizes: Partial<Record<AttackName, number>> = {};
  for (const name of names) {
    if (!isAttack(name)) throw new UsageError(`--only: there is no attack "${name}"; see --help.`);
    sizes[name] = Math.max(1, Math.round(FULL_SIZES[name] * scale));
  }
  return sizes;
}

function readUrl(text: string | undefined): string {
  if (text === undefined || !URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw new UsageError('--url: expected an http or https URL.');
  return text;
}

const options = {
  url: { type: 'string' },
  only: { type: 'string', default: Object.keys(COMBINED).join(',') },
  scale: { type: 'string', default: '1' },
  seconds: { type: 'string', default: '20' },
  pid: { type: 'string' },
  help: { type: 'boolean', default: false },
} as const;

async function main(args: string[]): Promise<number> {
  const { values } = parseArgs({ args, options });
  if (values.help) {
    console.log(usage);
    return 0;
  }
  const seconds = readNumber('seconds', values.seconds);
  const report = await runAttacks({
    url: readUrl(values.url),
    sizes: readSizes(values.only, readNumber('scale', values.scale)),
    seconds,
    recoverySeconds: seconds,
    ...(values.pid !== undefined && { pid: readNumber('pid', values.pid) }),
  });
  for (const line of describeReport(report)) console.log(line);
  return report.honest.failures === 0 ? 0 : 1;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 2;
}
