import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build } from 'esbuild';
import { bundleOptions } from '../../../scripts/lambda/bundleOptions.ts';

const resolveDir = fileURLToPath(new URL('../../../packages/gateway', import.meta.url));

/** What the driver imports of the client. */
const contents = `export {
  BatchGetItemCommand, ConditionalCheckFailedException, DeleteItemCommand, DynamoDBClient, GetItemCommand, paginateScan,
  PutItemCommand, QueryCommand, UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';`;

/** Packages in CommonJS want it for modules of Node. */
const banner = { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" };

async function write(file: string, options: BuildOptions): Promise<string> {
  const { outputFiles } = await build({ ...bundleOptions, ...options, stdin: { contents, resolveDir }, write: false });
  await writeFile(file, outputFiles.find(({ path }) => path.endsWith('.mjs'))?.contents ?? '');
  return file;
}

/**
 * Bundles the DynamoDB client alone, as a user of it would: minified ES modules, and its own sources of credentials.
 *
 * @param folder - where the bundle is written
 * @returns the module
 */
export async function bundleClient(folder: string): Promise<string> {
  return await write(join(folder, 'client.mjs'), { plugins: [], alias: {}, banner });
}

/** Bundles it as the function is bundled: without what a function has no use for. */
export async function bundleLeanClient(folder: string): Promise<string> {
  return await write(join(folder, 'leanClient.mjs'), {});
}
