// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {ERC2771Forwarder} from "@openzeppelin/contracts/metatx/ERC2771Forwarder.sol";

/// @title OpenZeppelin's forwarder, as it is: what the gas of the Forwarder is compared with
contract PlainForwarder is ERC2771Forwarder {
    constructor() ERC2771Forwarder("Forwarder") {}
}
