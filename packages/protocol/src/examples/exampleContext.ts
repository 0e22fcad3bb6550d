/**
 * Context of the signatures of `EXAMPLE_REQUESTS`: a development chain, and the first account of its well-known mnemonic ("test test …
 * junk"), whose key everybody knows.
 */
export const EXAMPLE_CONTEXT = {
  chainName: 'eip155:31337',
  chainId: 31337,
  forwarder: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
  creditToken: { address: '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512', name: 'Prism Credit', version: '1' },
  signer: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
  /** Forwarder nonce of every signer, and permit nonce of every owner: each example stands for itself. */
  nonce: '0',
} as const;
