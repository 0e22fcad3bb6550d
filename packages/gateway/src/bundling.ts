/** `@prism-gateway/gateway/bundling`: what is made in advance for the function's one file, and put into it. */
export { readLibsecp256k1 } from './drivers/secp256k1/readLibsecp256k1.ts';
export { OPEN_API_PLACEHOLDERS } from './entry/lambda/openApiTemplate.ts';
export { createOpenApiDocument } from './openapi/createOpenApiDocument.ts';
