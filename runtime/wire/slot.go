package wire

import "strings"

// SlotCount is the number of hash slots of a cluster.
const SlotCount = 16384

// Slot returns the hash slot of key: CRC16 of its hash tag, or of the whole key
// where it has none, modulo [SlotCount]. The algorithm is that of the cluster
// specification of Redis and Valkey.
func Slot(key string) int {
	return int(crc16(HashTag(key)) % SlotCount)
}

// HashTag returns the part of key that decides its slot: what stands between
// the first '{' and the next '}', if that is not empty, else the whole key.
func HashTag(key string) string {
	open := strings.IndexByte(key, '{')
	if open < 0 {
		return key
	}
	length := strings.IndexByte(key[open+1:], '}')
	if length <= 0 {
		return key
	}
	return key[open+1 : open+1+length]
}

// KeySlot is a key with its hash tag and slot.
type KeySlot struct {
	Key  string
	Tag  string
	Slot int
}

// Slots returns the tag and slot of every one of keys, in order, and whether
// all of them share one slot, so that they could be touched by one script. No
// keys share a slot trivially.
func Slots(keys []string) (slots []KeySlot, shared bool) {
	slots = make([]KeySlot, len(keys))
	shared = true
	for i, key := range keys {
		slots[i] = KeySlot{Key: key, Tag: HashTag(key), Slot: Slot(key)}
		shared = shared && slots[i].Slot == slots[0].Slot
	}
	return slots, shared
}

// crc16 is CRC-16/XMODEM: polynomial 0x1021, initial value 0, most significant
// bit first.
func crc16(s string) uint16 {
	var crc uint16
	for i := 0; i < len(s); i++ {
		crc = crc<<8 ^ crcTable[byte(crc>>8)^s[i]]
	}
	return crc
}

var crcTable = func() (table [256]uint16) {
	for i := range table {
		crc := uint16(i) << 8
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
		table[i] = crc
	}
	return table
}()
