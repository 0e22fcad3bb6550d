// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {Forwarder} from "../Forwarder.sol";
import {PrismCloud} from "../cloud/PrismCloud.sol";
import {RefusedEntry, WriteEntry} from "../forwarder/RequestTypes.sol";
import {CreditToken} from "../tokens/CreditToken.sol";
import {CampaignModel} from "./CampaignModel.sol";
import {CampaignRequests} from "./CampaignRequests.sol";
import {HostileWallet} from "./HostileWallet.sol";

/// @title A campaign of calls, for tests
/// @notice Users and relayers that ask for anything, sensible or not, in any order, and an owner that changes the policy at any
///         time. It knows for each call what must become of it; the first thing that is otherwise reverts the whole run.
contract Campaign is CampaignRequests {
    /// @dev More than any one call takes, with four wallets that burn what they get.
    uint256 private constant STEP_GAS = 12_000_000;

    constructor(Forwarder forwarder_, PrismCloud cloud_, CreditToken token_, uint256[] memory keys_)
        CampaignModel(forwarder_, cloud_, token_, keys_)
    {}

    /// @notice Takes over what an owner may do, which was offered to it, and gives out the credits that it holds.
    function begin() external {
        forwarder.acceptOwnership();
        cloud.acceptOwnership();
        uint256 part = token.balanceOf(address(this)) / (2 * RELAYERS);
        for (uint256 i = 0; i < RELAYERS; ++i) token.transfer(address(relayers[i]), part);
        for (uint256 i = 0; i < USERS; ++i) token.transfer(users[i], 1000);
    }

    /// @notice Makes calls until there are enough, or the gas is nearly used up; then all sums are compared.
    /// @return made How many.
    function run(uint256 seed, uint256 count) external returns (uint256 made) {
        for (; made < count && gasleft() > STEP_GAS; ++made) {
            ++calls;
            seed = uint256(keccak256(abi.encode(seed)));
            try this.step(seed) {}
            catch (bytes memory fault) {
                if (bytes4(fault) != Undone.selector) {
                    assembly ("memory-safe") {
                        revert(add(fault, 0x20), mload(fault))
                    }
                }
                ++starved;
            }
        }
        _checkSums();
    }

    /// @notice What has been counted.
    function counts() external view returns (uint256[12] memory, uint256, uint256, uint256, uint256) {
        return (done, refused, starved, permitsUsed, calls);
    }

    /// @notice One call; a function of its own so that it can be undone, and its memory is given back.
    function step(uint256 seed) external {
        require(msg.sender == address(this));
        random = seed;
        uint256 kind = _pick(34);
        uint256 relayer = _pick(RELAYERS);
        if (kind < 4) _create(relayer, kind == 0 || kind == 1);
        else if (kind < 13) _one(relayer, (kind - 4) / 3);
        else if (kind < 18) _many(relayer, kind - 13 < 3 ? kind - 13 : kind - 15);
        else if (kind < 22) _own(relayer, kind - 18);
        else if (kind < 25) _multiUser(relayer);
        else if (kind == 25) _fund(relayer);
        else if (kind == 26) _invalidate();
        else if (kind < 29) _behave();
        else if (kind == 29) _payOut(relayer);
        else if (kind == 30) _govern(relayer);
        else if (kind == 31) _trespass(relayer);
        else _fund(relayer);
    }

    /// @dev BATCH_MULTI_USER_WRITE_DATA: each entry by itself.
    function _multiUser(uint256 relayer) private {
        WriteEntry[] memory batch = new WriteEntry[](1 + _pick(4));
        bool[] memory isRight = new bool[](batch.length);
        uint256[] memory touched = new uint256[](batch.length);
        uint256 fees = 0;
        uint256 written = 0;
        for (uint256 i = 0; i < batch.length; ++i) {
            touched[i] = _aim(true);
            if (!_hasRoom(touched[i], 0)) touched[i] = _aim(true);
            (batch[i], isRight[i]) = _entry(relayer, touched[i]);
            if (!isRight[i]) continue;
            fees += batch[i].auth.relayerFee;
            ++written;
        }
        _earn(relayer, fees, written * forwarder.protocolFee());
        bool isStarved = _pick(8) == 0;
        (bool success, bytes memory answer) = relayers[relayer].act(
            address(forwarder),
            abi.encodeCall(forwarder.batchMultiUserWriteData, (batch)),
            isStarved ? 40_000 + _pick(400_000 * batch.length) : gasleft()
        );
        if (isStarved && !success) revert Undone();
        _check(success, "a whole batch was refused");
        RefusedEntry[] memory list = abi.decode(answer, (RefusedEntry[]));
        _check(list.length == batch.length - written, "another number of entries was refused");
        uint256 place = 0;
        for (uint256 i = 0; i < batch.length; ++i) {
            if (!isRight[i]) _check(list[place++].index == i, "another entry was refused");
            _checkPrism(touched[i]);
        }
        done[MULTI_USER] += written;
        refused += batch.length - written;
        for (uint256 user = 0; user < USERS; ++user) _checkUser(user);
        _checkEarnings();
    }

    function _entry(uint256 relayer, uint256 prism) private returns (WriteEntry memory entry, bool passes) {
        uint256 user = _actor(prism);
        (entry.auth, passes) = _draw(user, relayer);
        (bytes32[] memory ids, bytes[] memory payloads) = _lists(prism, 1, 0);
        (entry.cloudId, entry.dataId, entry.payload) = (_cloudId(prism), ids[0], payloads[0]);
        uint256 due = entry.auth.relayerFee + forwarder.protocolFee();
        passes = passes && _pays(prism, user, due) && _fits(prism, ids, payloads, 0);
        bytes32 structHash =
            hashes.writeDataFor(entry.cloudId, entry.dataId, entry.payload, entry.auth, nonces[user]);
        passes = _seal(entry.auth, user, structHash) && passes;
        if (!passes) return (entry, false);
        prisms[prism].balance -= due;
        ++nonces[user];
        _put(prism, ids, payloads, 0);
    }

    function _fund(uint256 relayer) private {
        uint256 prism = _aim(true);
        // Rather one whose sponsor's credits are partly spent.
        for (uint256 tries = 0; tries < 6 && prisms[prism].sponsored <= prisms[prism].balance; ++tries) prism = _aim(true);
        Prism storage model = prisms[prism];
        uint256 held = token.balanceOf(address(relayers[relayer]));
        uint256 amount = _pick(8) == 0 ? held + 1 : _pick(300);
        (bool success,) = relayers[relayer].act(
            address(cloud), abi.encodeCall(cloud.fundPrism, (_cloudId(prism), amount)), gasleft()
        );
        _check(success == (model.owner != address(0) && amount <= held), "funding");
        // What has been spent of the sponsor's credits does not come back with credits of others.
        if (success && model.sponsored > model.balance) model.sponsored = model.balance;
        if (success) model.balance += amount;
        _checkPrism(prism);
    }

    function _invalidate() private {
        uint256 user = _pick(WALLETS);
        HostileWallet(users[user]).execute(address(forwarder), abi.encodeCall(forwarder.invalidateNonce, ()));
        ++nonces[user];
        _checkUser(user);
    }

    /// @dev Wallets change their ways, and users get credits to found prisms with.
    function _behave() private {
        uint256 user = _pick(USERS);
        if (user >= WALLETS && _pick(3) == 0) _usePermit(user, _pick(50));
        if (users[user].code.length != 0) {
            // Mostly honest.
            uint256 mode = _pick(4) == 0 ? _pick(6) : 0;
            bytes memory again = _pick(2) == 0
                ? abi.encodeCall(forwarder.invalidateNonce, ())
                : abi.encodeCall(forwarder.batchMultiUserWriteData, (new WriteEntry[](1)));
            HostileWallet(users[user]).behave(HostileWallet.Mode(mode), address(forwarder), again);
        }
        if (token.balanceOf(users[user]) < 500) token.transfer(users[user], 1000);
    }

    function _payOut(uint256 relayer) private {
        address account = address(relayers[relayer]);
        address treasury = cloud.treasury();
        (uint256 held, uint256 kept) = (token.balanceOf(account), token.balanceOf(treasury));
        cloud.payOutEarnings(account);
        _check(token.balanceOf(account) == held + earned[relayer], "the relayer got another amount");
        _check(token.balanceOf(treasury) == kept + treasuryEarned[relayer], "the treasury got another amount");
        (earned[relayer], treasuryEarned[relayer]) = (0, 0);
        _checkEarnings();
    }

    /// @dev What an owner may do at any time.
    function _govern(uint256 relayer) private {
        uint256 kind = _pick(5);
        uint32 window = _pick(2) == 0 ? 0 : uint32(_pick(90));
        if (kind == 0) cloud.setTreasury(address(uint160(0x7ea5 + _pick(2))));
        else if (kind == 4) _changeFee(uint96(_pick(50)));
        else if (kind == 1) forwarder.setPolicy(window, window + uint32(_pick(100)), uint16(_pick(10_001)));
        else forwarder.setOfficialRelayer(address(relayers[relayer]), kind == 2);
    }

    /// @dev What was announced long enough ago is applied, and else something is announced.
    function _changeFee(uint96 fee) private {
        uint256 appliesAt = forwarder.feeAppliesAt();
        uint96 before = forwarder.protocolFee();
        if (_pick(2) == 0) {
            uint96 announced = forwarder.announcedFee();
            bool isDue = appliesAt != 0 && block.timestamp >= appliesAt;
            try forwarder.applyProtocolFee() {
                _check(isDue && forwarder.protocolFee() == announced, "a fee was applied");
            } catch {
                _check(!isDue, "a fee was not applied");
            }
            return;
        }
        bool isAllowed = fee <= forwarder.MAX_PROTOCOL_FEE();
        try forwarder.announceProtocolFee(fee) {
            _check(isAllowed, "a fee above the maximum was announced");
        } catch {
            _check(!isAllowed, "a fee was not announced");
        }
        _check(forwarder.protocolFee() == before, "a fee changed at once");
    }

    /// @dev What nobody else may do.
    function _trespass(uint256 relayer) private {
        uint256 kind = _pick(6);
        address account = address(relayers[relayer]);
        bytes32 cloudId = _cloudId(_pick(PRISMS));
        bytes memory data;
        if (kind == 0) data = abi.encodeCall(cloud.accrue, (account, 9, 9));
        else if (kind == 1) data = abi.encodeCall(cloud.writeEntryOfBatch, (account, cloudId, 0, "", 0));
        else if (kind == 2) data = abi.encodeCall(cloud.setTreasury, (account));
        else if (kind == 3) data = abi.encodeCall(forwarder.setOfficialRelayer, (account, true));
        else if (kind == 4) data = abi.encodeCall(forwarder.setPolicy, (0, 1, 10_000));
        else data = abi.encodeCall(cloud.core().addEntry, (cloudId, 0, ""));
        address target = kind < 3 ? address(cloud) : kind < 5 ? address(forwarder) : address(cloud.core());
        (bool success,) = relayers[relayer].act(target, data, gasleft());
        _check(!success, "a stranger was heard");
    }
}
