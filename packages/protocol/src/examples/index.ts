export { EXAMPLE_CONTEXT } from './exampleContext.ts';
export { EXAMPLE_REQUESTS, type ExampleRequests } from './exampleRequests.ts';
