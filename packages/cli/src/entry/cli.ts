/** `prism whitelist`, `prism requests`, `prism stats`, `prism completion`. */
import { runCli } from '../runCli.ts';

const ended = new AbortController();
process.once('SIGINT', () => ended.abort());
process.once('SIGTERM', () => ended.abort());
// Whoever reads may stop reading: `prism requests list | head`.
process.stdout.on('error', () => process.exit(0));

process.exitCode = await runCli({
  args: process.argv.slice(2),
  env: process.env,
  print: (line) => console.log(line),
  complain: (line) => console.error(line),
  isTerminal: process.stdout.isTTY === true,
  signal: ended.signal,
});
