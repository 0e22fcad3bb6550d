/** `DATA_DIR=NEW npx prism restore FOLDER`: brings a backup back. */
import { runRestore } from './backup/runRestore.ts';

const context = { environment: process.env, print: console.log, complain: console.error };
process.exitCode = await runRestore(context, process.argv.slice(2));
