/** `prism keystore`: makes encrypted keystores. */
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { keystoreUsage, runKeystore } from './runKeystore.ts';

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

async function main(): Promise<number> {
  if (process.argv.includes('--help')) {
    console.log(keystoreUsage);
    return 0;
  }
  try {
    await runKeystore({ args: process.argv.slice(2), environment: process.env, print: console.log, ask });
    return 0;
  } catch (error) {
    console.error(`No keystore was made. ${error instanceof Error ? error.message : 'unknown'}`);
    return 1;
  }
}

process.exit(await main());
