import { type Parameter, schemaRef } from '../document.ts';
import { EXAMPLE_REQUEST_ID } from '../examples/requestExamples.ts';

/** The path parameter of one request. */
export const REQUEST_ID_PARAMETER: Parameter = {
  name: 'requestId',
  in: 'path',
  description: 'Id of the request: any UUID of RFC 9562, in any letter case. Anything else is a 400.',
  required: true,
  schema: schemaRef('RequestId'),
  example: EXAMPLE_REQUEST_ID,
};
