/** `prism keystore`: makes encrypted keystores. */
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { KeystoreUsageError, keystoreUsage, runKeystore } from './runKeystore.ts';

/** Asks on the terminal; what is typed is shown to nobody. */
async function ask(question: string): Promise<string> {
  process.stderr.write(question);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: silent, terminal: process.stdin.isTTY });
  try {
    return await lines.question('');
  } finally {
    lines.close();
    process.stderr.write('\n');
  }
}

/** Exit status of a command line that is wrong, in every program. */
const USAGE_STATUS = 2;

async function main(): Promise<number> {
  if (process.argv.includes('--help')) {
    console.log(keystoreUsage);
    return 0;
  }
  try {
    await runKeystore({ args: process.argv.slice(2), environment: process.env, print: console.log, ask });
    return 0;
  } catch (error) {
    const sentence = `No keystore was made. ${error instanceof Error ? error.message : 'unknown'}`;
    console.error(process.argv.includes('--json') ? JSON.stringify({ error: sentence }) : sentence);
    return error instanceof KeystoreUsageError ? USAGE_STATUS : 1;
  }
}

process.exit(await main());
