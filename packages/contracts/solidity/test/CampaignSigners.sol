// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {Authorization, Permit} from "../forwarder/RequestTypes.sol";
import {CampaignKeys as Keys} from "./CampaignKeys.sol";
import {CampaignModel} from "./CampaignModel.sol";
import {HostileWallet} from "./HostileWallet.sol";

/// @title How the campaign's users sign, for tests
/// @notice Contract wallets that lie now and then, keys that sign well or nearly so, and a key whose account has code (EIP-7702).
abstract contract CampaignSigners is CampaignModel {
    bytes32 private constant PERMIT =
        keccak256("Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)");

    /// @return auth A request of a user, not signed yet: usually in time and often at an edge, now and then too early or late.
    /// @return isOpen Whether this relayer may submit it now.
    function _draw(uint256 user, uint256 relayer) internal returns (Authorization memory auth, bool isOpen) {
        uint256 age = forwarder.maxAge();
        uint256 delay = _isOfficial(relayer) ? 0 : forwarder.priorityWindow();
        uint256 moment = _pick(24);
        uint256 since = delay + _pick(age - delay + 1);
        if (moment < 4) since = delay;
        else if (moment < 8) since = age;
        else if (moment == 8) since = age + 1 + _pick(5);
        else if (moment == 9) since = _pick(age + 1);
        auth = Authorization(users[user], _pick(40), block.timestamp - since, 0, 0, 0);
        if (moment == 10) auth.timestamp = block.timestamp + 1 + _pick(5);
        isOpen = auth.timestamp <= block.timestamp && since <= age && since >= delay;
    }

    /// @dev Signs a request; one in twelve not quite: for another nonce, by another key, with the other `s`, `v` or both.
    /// @param structHash Of the request with the signer's nonce.
    /// @return isSigned Whether the Forwarder has to take the signature for the signer's.
    function _seal(Authorization memory auth, uint256 user, bytes32 structHash) internal returns (bool isSigned) {
        bytes32 digest = keccak256(abi.encodePacked(hex"1901", forwarder.domainSeparator(), structHash));
        if (user < WALLETS) {
            (auth.v, auth.r, auth.s) = (uint8(_pick(256)), bytes32(_pick(9)), bytes32(_pick(9)));
            return _says(user);
        }
        uint256 fault = _pick(60);
        if (fault == 0) digest = bytes32(uint256(digest) ^ 1);
        (auth.v, auth.r, auth.s) = Keys.sign(fault == 1 ? keys[user] + 1 : keys[user], digest);
        if (fault == 2) (auth.v, auth.s) = (55 - auth.v, bytes32(Keys.N - uint256(auth.s)));
        if (fault == 3) auth.v -= 27;
        if (fault == 4) (auth.v, auth.r, auth.s) = (27, 0, 0);
        return fault > 4 || (users[user].code.length != 0 && _says(user));
    }

    /// @dev Two of the modes answer with the right word; the others lie, burn, re-enter, answer too little or revert.
    function _says(uint256 user) private view returns (bool) {
        HostileWallet.Mode mode = HostileWallet(users[user]).mode();
        return mode == HostileWallet.Mode.Approve || mode == HostileWallet.Mode.ReturnBomb;
    }

    /// @dev A permit for a creation: good, used up by somebody a moment before, forged, expired, for another amount, or none.
    /// @return permit What the creation carries.
    /// @return isAllowed Whether the Forwarder may pull the amount then; what is left is written down as if it does.
    function _permit(uint256 user, uint256 amount) internal returns (Permit memory permit, bool isAllowed) {
        uint256 kind = _pick(8);
        // Contract wallets cannot sign permits; they have approved the Forwarder for ever.
        if (user < WALLETS) return (kind < 4 ? permit : Permit(block.timestamp + 9, 27, bytes32(kind), bytes32(kind)), true);
        if (kind == 0 || amount == 0) return (permit, _pull(user, amount));
        permit.deadline = kind == 1 ? block.timestamp - 1 : block.timestamp + _pick(3);
        bytes32 digest = _permitDigest(user, kind == 2 ? amount + 1 : amount, permit.deadline);
        (permit.v, permit.r, permit.s) = Keys.sign(kind == 3 ? keys[user] + 1 : keys[user], digest);
        if (kind < 4) return (permit, _pull(user, amount));
        allowances[user] = amount;
        if (kind == 4) {
            token.permit(users[user], address(forwarder), amount, permit.deadline, permit.v, permit.r, permit.s);
        }
        return (permit, _pull(user, amount));
    }

    /// @dev Anyone can leave an allowance behind: a permit is used, and no creation follows.
    function _usePermit(uint256 user, uint256 amount) internal {
        bytes32 digest = _permitDigest(user, amount, block.timestamp);
        (uint8 v, bytes32 r, bytes32 s) = Keys.sign(keys[user], digest);
        token.permit(users[user], address(forwarder), amount, block.timestamp, v, r, s);
        allowances[user] = amount;
    }

    function _pull(uint256 user, uint256 amount) private returns (bool isAllowed) {
        isAllowed = allowances[user] >= amount;
        if (isAllowed) allowances[user] -= amount;
    }

    function _permitDigest(uint256 user, uint256 amount, uint256 deadline) private view returns (bytes32) {
        bytes32 structHash = keccak256(
            abi.encode(PERMIT, users[user], address(forwarder), amount, token.nonces(users[user]), deadline)
        );
        return keccak256(abi.encodePacked(hex"1901", token.DOMAIN_SEPARATOR(), structHash));
    }
}
