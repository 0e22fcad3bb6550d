/** A whole frontend in a few files: the three endpoints that the payment relayer calls, a store and a page. */
export { createFrontendHandler } from './createFrontendHandler.ts';
export { type FrontendPayment, type FrontendStore, openFrontendStore } from './openFrontendStore.ts';
export { type ReferenceFrontend, startReferenceFrontend } from './startReferenceFrontend.ts';
