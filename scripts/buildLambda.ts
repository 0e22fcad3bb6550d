/**
 * `npx prism build:lambda`: builds the function into `dist/lambda`, and those that deliver webhooks into `dist/lambda-webhooks`, ready to be
 * deployed as `index.handler`.
 */
import { fileURLToPath } from 'node:url';
import { bundleFunction } from './lambda/bundleFunction.ts';
import { bundleWebhooks } from './lambda/bundleWebhooks.ts';

const dist = (folder: string) => fileURLToPath(new URL(`../dist/${folder}`, import.meta.url));

const built = [
  await bundleFunction({ code: dist('lambda'), maps: dist('lambda-maps') }),
  await bundleWebhooks({ code: dist('lambda-webhooks'), maps: dist('lambda-webhooks-maps') }),
];
for (const { file, bytes } of built) console.log(`${file}: ${bytes} bytes`);
