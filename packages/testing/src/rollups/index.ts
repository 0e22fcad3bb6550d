export { installArbitrum, installOpStack, type OpStackPrices } from './installRollup.ts';
