/** `npm run build:lambda`: builds the function into `dist/lambda`, ready to be deployed as `index.handler`. */
import { fileURLToPath } from 'node:url';
import { bundleFunction } from './lambda/bundleFunction.ts';

const dist = (folder: string) => fileURLToPath(new URL(`../dist/${folder}`, import.meta.url));

const { file, bytes } = await bundleFunction({ code: dist('lambda'), maps: dist('lambda-maps') });
console.log(`${file}: ${bytes} bytes`);
