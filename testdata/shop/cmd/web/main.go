// Command web takes the orders of the shop over HTTP and enqueues what is to be
// done about them. It handles no job.
//
//	curl -d '{"orderId": 7, "email": "ada@example.com"}' localhost:8080/orders
//	curl localhost:8080/confirmations/JOB
//
// REDIS_URL is the store; LISTEN the address, localhost:8080 by default.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	echomq "github.com/echomq/echomq-go/runtime"

	"example.com/shop/internal/store"
	"example.com/shop/jobs"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		log.Fatal(err)
	}
}

// run serves until ctx ends.
func run(ctx context.Context) error {
	connection, err := store.Open()
	if err != nil {
		return err
	}
	defer connection.Close()
	client := echomq.NewClient(connection)
	defer client.Close()

	listener, err := net.Listen("tcp", cmp.Or(os.Getenv("LISTEN"), "localhost:8080"))
	if err != nil {
		return err
	}
	log.Printf("listening on %s", listener.Addr())
	server := &http.Server{Handler: newShop(client).routes(), ReadHeaderTimeout: 5 * time.Second}
	stopped := make(chan error, 1)
	context.AfterFunc(ctx, func() {
		patience, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		stopped <- server.Shutdown(patience)
	})
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-stopped
}

// shop answers the requests of customers.
type shop struct {
	client *echomq.Client
	orders *jobs.OrdersProducer
}

func newShop(client *echomq.Client) *shop {
	return &shop{client: client, orders: jobs.NewOrdersProducer(client)}
}

func (s *shop) routes() http.Handler {
	routes := http.NewServeMux()
	routes.HandleFunc("POST /orders", s.order)
	routes.HandleFunc("GET /confirmations/{job}", s.confirmation)
	return routes
}

// order enqueues what follows from an order, and answers with the id of the job
// that confirms it. The same order twice has the same job.
func (s *shop) order(w http.ResponseWriter, r *http.Request) {
	var order jobs.Confirm
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&order); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	confirm, err := s.orders.EnqueueConfirm(r.Context(), order)
	if err != nil {
		unavailable(w, err)
		return
	}
	// Also where the first was there: the request before may have failed in between.
	review := jobs.AskForReview{OrderID: order.OrderID, Email: order.Email}
	if _, err := s.orders.EnqueueAskForReview(r.Context(), review); err != nil {
		unavailable(w, err)
		return
	}
	answer(w, http.StatusAccepted, map[string]any{"job": confirm.ID, "existing": confirm.Existing})
}

// confirmation waits for the job that confirms an order, wherever it runs.
func (s *shop) confirmation(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), 10*time.Second)
	defer cancel()
	handle, err := jobs.ConfirmJob().Handle(s.client, r.PathValue("job"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	confirmation, err := handle.Await(ctx)
	var failed *echomq.JobError
	switch {
	case errors.Is(err, echomq.ErrJobMissing):
		http.Error(w, "there is no such confirmation", http.StatusNotFound)
	case errors.As(err, &failed):
		http.Error(w, "the order could not be confirmed", http.StatusBadGateway)
	case errors.Is(err, context.DeadlineExceeded):
		http.Error(w, "not confirmed yet; ask again", http.StatusGatewayTimeout)
	case err != nil:
		unavailable(w, err)
	default:
		answer(w, http.StatusOK, confirmation)
	}
}

func unavailable(w http.ResponseWriter, err error) {
	log.Print(err)
	http.Error(w, "try again later", http.StatusServiceUnavailable)
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(body); err != nil {
		log.Print(err)
	}
}
