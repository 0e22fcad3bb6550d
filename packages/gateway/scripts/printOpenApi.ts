/** Prints the OpenAPI document of a development gateway, for linters and generators of clients. */
import { createDevelopmentDocument } from './developmentDocument.ts';

process.stdout.write(`${JSON.stringify(createDevelopmentDocument(), null, 2)}\n`);
