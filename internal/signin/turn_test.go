package signin

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"fanfare/internal/fault"
	"fanfare/internal/ident"
)

// TestHashTurns checks that a network with little work has the next turn beside
// 60 networks with full queues, and that known users do not wait for unknown
// ones.
func TestHashTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &Service{hashes: newHashes(2)}
		begun := make(chan ident.ID, 1000)
		next := make(chan struct{})
		hash := func(who ident.ID) {
			go func() {
				done, err := s.turn(t.Context(), who)
				if err != nil {
					t.Error(err)
					return
				}
				begun <- who
				<-next
				done()
			}()
			synctest.Wait()
		}
		wants := func(who ident.ID) {
			t.Helper()
			synctest.Wait()
			select {
			case got := <-begun:
				if got != who {
					t.Errorf("got a turn of %s want %s", got, who)
				}
			default:
				t.Errorf("got no turn want one of %s", who)
			}
		}
		for i := range 60 {
			for range hashesPerNetwork {
				hash(ident.ID(fmt.Sprint("198.51.100.", i)))
			}
		}
		wants("198.51.100.0")
		wants("198.51.100.0")
		_, err := s.turn(t.Context(), "198.51.100.59")
		if f, ok := errors.AsType[*fault.Error](err); !ok || f.Code != fault.RateLimitExceeded || f.RetryAfter != time.Second {
			t.Errorf("got %v want a network at its limit to be refused", err)
		}
		hash("203.0.113.1")
		hash("usr_01m7eed1vefw9bs159p71gx00q")
		wants("usr_01m7eed1vefw9bs159p71gx00q")
		next <- struct{}{}
		wants("203.0.113.1")
		close(next)
		synctest.Wait()
	})
}

// TestHashTooLate wants a wait for a turn to end, and the operator to wait as
// long as it takes.
func TestHashTooLate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &Service{hashes: newHashes(1)}
		done, err := s.turn(t.Context(), "198.51.100.1")
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		_, err = s.turn(t.Context(), "203.0.113.1")
		if f, ok := errors.AsType[*fault.Error](err); !ok || f.Code != fault.Unavailable || f.RetryAfter == 0 || time.Since(began) != hashWait {
			t.Errorf("got %v after %s want unavailable after %s", err, time.Since(began), hashWait)
		}
		user, err := s.turn(t.Context(), "usr_01m7eed1vefw9bs159p71gx00q")
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(time.Hour, user)
		commanded, err := s.turn(t.Context(), operator)
		if err != nil || time.Since(began) < time.Hour {
			t.Fatalf("got %v after %s want a turn after an hour", err, time.Since(began))
		}
		commanded()
		done()
	})
}
