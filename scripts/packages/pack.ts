/** `npx prism pack`: builds the published packages and makes their tarballs in `dist/packages`. */
import { join, relative } from 'node:path';
import { packCli } from './packCli.ts';
import { packPackages } from './packPackages.ts';

const root = join(import.meta.dirname, '../..');
for (const { path, bytes, unpackedBytes, sha256 } of packPackages(root, join(root, 'dist/packages'))) {
  const sizes = `${String(bytes).padStart(7)} bytes (${unpackedBytes} unpacked)`;
  console.log(`${relative(root, path)}  ${sizes}  sha256 ${sha256}`);
}
console.log(relative(root, packCli(root, join(root, 'dist/packages'))));
