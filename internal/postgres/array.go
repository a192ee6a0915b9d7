package postgres

import (
	"encoding/binary"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

// The functions of this file encode parameters in PostgreSQL's binary form.
// pgx can encode slices by itself; at hundreds of rows a statement its
// per-element plans were a tenth of the server's CPU.

// postgresEpoch is 2000-01-01 in microseconds since 1970.
const postgresEpoch = 946684800 * 1_000_000

func arrayHeader(dst []byte, oid uint32, n int) []byte {
	if n == 0 {
		dst = binary.BigEndian.AppendUint32(dst, 0)
		dst = binary.BigEndian.AppendUint32(dst, 0)
		return binary.BigEndian.AppendUint32(dst, oid)
	}
	dst = binary.BigEndian.AppendUint32(dst, 1) // dimensions
	dst = binary.BigEndian.AppendUint32(dst, 0) // no nulls
	dst = binary.BigEndian.AppendUint32(dst, oid)
	dst = binary.BigEndian.AppendUint32(dst, uint32(n))
	return binary.BigEndian.AppendUint32(dst, 1) // lower bound
}

func int8Array[T ~int64](values []T) []byte {
	dst := arrayHeader(make([]byte, 0, 20+12*len(values)), pgtype.Int8OID, len(values))
	for _, v := range values {
		dst = binary.BigEndian.AppendUint32(dst, 8)
		dst = binary.BigEndian.AppendUint64(dst, uint64(v))
	}
	return dst
}

func int4Array(values []int32) []byte {
	dst := arrayHeader(make([]byte, 0, 20+8*len(values)), pgtype.Int4OID, len(values))
	for _, v := range values {
		dst = binary.BigEndian.AppendUint32(dst, 4)
		dst = binary.BigEndian.AppendUint32(dst, uint32(v))
	}
	return dst
}

func int2Array(values []int16) []byte {
	dst := arrayHeader(make([]byte, 0, 20+6*len(values)), pgtype.Int2OID, len(values))
	for _, v := range values {
		dst = binary.BigEndian.AppendUint32(dst, 2)
		dst = binary.BigEndian.AppendUint16(dst, uint16(v))
	}
	return dst
}

func boolArray(values []bool) []byte {
	dst := arrayHeader(make([]byte, 0, 20+5*len(values)), pgtype.BoolOID, len(values))
	for _, v := range values {
		b := byte(0)
		if v {
			b = 1
		}
		dst = append(binary.BigEndian.AppendUint32(dst, 1), b)
	}
	return dst
}

// timeArray encodes microseconds since 2000 (timestamptz).
func timeArray(values []int64) []byte {
	dst := arrayHeader(make([]byte, 0, 20+12*len(values)), pgtype.TimestamptzOID, len(values))
	for _, v := range values {
		dst = binary.BigEndian.AppendUint32(dst, 8)
		dst = binary.BigEndian.AppendUint64(dst, uint64(v))
	}
	return dst
}

func textArray[T string | []byte](values []T) []byte { return bytesArray(values, pgtype.TextOID) }

func byteaArray(values [][]byte) []byte { return bytesArray(values, pgtype.ByteaOID) }

func bytesArray[T string | []byte](values []T, oid uint32) []byte {
	size := 20
	for _, v := range values {
		size += 4 + len(v)
	}
	dst := arrayHeader(make([]byte, 0, size), oid, len(values))
	for _, v := range values {
		dst = binary.BigEndian.AppendUint32(dst, uint32(len(v)))
		dst = append(dst, v...)
	}
	return dst
}

// The decoders below read result columns in binary form.

func getInt8(b []byte) int64 { return int64(binary.BigEndian.Uint64(b)) }
func getInt4(b []byte) int32 { return int32(binary.BigEndian.Uint32(b)) }
func getInt2(b []byte) int16 { return int16(binary.BigEndian.Uint16(b)) }
func getBool(b []byte) bool  { return b[0] != 0 }

// getInt8s reads a bigint[] without nulls.
func getInt8s(b []byte) []int64 {
	if len(b) < 20 {
		return nil
	}
	n := int(binary.BigEndian.Uint32(b[12:]))
	b = b[20:]
	values := make([]int64, n)
	for i := range values {
		values[i] = int64(binary.BigEndian.Uint64(b[4+12*i:]))
	}
	return values
}

// timeOf converts microseconds since 2000.
func timeOf(micros int64) time.Time { return time.UnixMicro(micros + postgresEpoch).UTC() }

// microsOf is the inverse of timeOf.
func microsOf(t time.Time) int64 { return t.UnixMicro() - postgresEpoch }
