// Tiles of conv2d_backward.tc, with the warps that have one and the slots for operands, and how far offsets of 32 bits reach.
// conv2d_backward.tune.json says where each is the fastest; the first that fits is taken where nothing was timed.

// Pixels, channels and depth; __TRI_SPECIALIZED__ is 1 for vectors of channels, 2 for few columns, 3 for groups,
// 4 for groups of few channels, 0 for all else.
#pragma tri kernel conv2d_backward_data
#pragma tri configs MB in {128}, NB in {128}, KB in {64}, FEW in {0}; num_warps in {4}, num_stages in {4, 2} if __TRI_SPECIALIZED__ == 1 && sizeof(TYPE) == 2 && __TRI_ARCH_SPECIFIC__ == 900
#pragma tri configs MB in {128}, NB in {64}, KB in {64}, FEW in {0}; num_warps in {4}, num_stages in {3} if __TRI_SPECIALIZED__ == 1 && sizeof(TYPE) == 2 && __TRI_ARCH_SPECIFIC__ == 900
#pragma tri configs MB in {64}, NB in {128}, KB in {64}, FEW in {0}; num_warps in {4}, num_stages in {3} if __TRI_SPECIALIZED__ == 1 && sizeof(TYPE) == 2 && __TRI_ARCH_SPECIFIC__ == 900
#pragma tri configs MB in {256}, NB in {128}, KB in {64}, FEW in {0}; num_warps in {8}, num_stages in {4} if __TRI_SPECIALIZED__ == 1 && sizeof(TYPE) == 2 && __TRI_ARCH_SPECIFIC__ == 900
#pragma tri configs MB in {128}, NB in {64}, KB in {32}, FEW in {0}; num_warps in {8} if __TRI_SPECIALIZED__ == 1 && sizeof(TYPE) == 2 && __TRI_ARCH_SPECIFIC__ != 900
#pragma tri configs MB in {64}, NB in {64}, KB in {16}, FEW in {0}; num_warps in {8} if __TRI_SPECIALIZED__ < 2 && sizeof(TYPE) == (__TRI_SPECIALIZED__ ? 4 : 2)
#pragma tri configs MB in {64}, NB in {64}, KB in {8}, FEW in {0}; num_warps in {8} if !__TRI_SPECIALIZED__ && sizeof(TYPE) == 4
#pragma tri configs MB in {128}, NB in {64}, KB in {64}, FEW in {0}, GROUPED in {2}; num_warps in {4}, num_stages in {3} if __TRI_SPECIALIZED__ == 3 && sizeof(TYPE) == 2 && __TRI_ARCH_SPECIFIC__ == 900
#pragma tri configs MB in {256}, NB in {128}, KB in {64}, FEW in {0}, GROUPED in {2}; num_warps in {8}, num_stages in {4} if __TRI_SPECIALIZED__ == 3 && sizeof(TYPE) == 2 && __TRI_ARCH_SPECIFIC__ == 900
#pragma tri configs MB in {128}, NB in {64}, KB in {32}, FEW in {0}, GROUPED in {2}; num_warps in {8} if __TRI_SPECIALIZED__ == 3 && sizeof(TYPE) == 2 && __TRI_ARCH_SPECIFIC__ != 900
#pragma tri configs MB in {64}, NB in {64}, KB in {16}, FEW in {0}, GROUPED in {2}; num_warps in {8} if __TRI_SPECIALIZED__ == 3 && sizeof(TYPE) == 4
#pragma tri configs MB in {128}, NB in {32}, KB in {32}, FEW in {0}, GROUPED in {1}; num_warps in {4} if __TRI_SPECIALIZED__ == 4 && sizeof(TYPE) == 2
#pragma tri configs MB in {128}, NB in {32}, KB in {16}, FEW in {0}, GROUPED in {1}; num_warps in {4} if __TRI_SPECIALIZED__ == 4 && sizeof(TYPE) == 4
#pragma tri configs MB in {128}, NB in {16}, KB in {64}, FEW in {1}; num_warps in {4}, max_registers in {128} if __TRI_SPECIALIZED__ == 2 && sizeof(TYPE) == 2
#pragma tri configs MB in {128}, NB in {16}, KB in {16}, FEW in {1}; num_warps in {4}, max_registers in {168} if __TRI_SPECIALIZED__ == 2 && sizeof(TYPE) == 4
#pragma tri key(N, H, W, C, K, R, S, stride_h, stride_w, groups)
#pragma tri require(N * (H + stride_h) * (W + stride_w) <= 2147483647 - MB)
#pragma tri require(H + 2 * pad_h <= 1073741824)
#pragma tri require((H + 2 * pad_h) * stride_yp + (W + 2 * pad_w) * stride_yq + K * stride_yk <= 2147483647)
#pragma tri require(K * stride_fk + R * stride_fr + S * stride_fs + C * stride_fc <= 2147483647)
#pragma tri require((H + stride_h) * stride_xh + (W + stride_w) * stride_xw + C * stride_xc <= 2147483647)

// Filters, their elements, and pixels; __TRI_SPECIALIZED__ is 1 for vectors of channels, 2 for few channels, 3 for groups,
// 4 for groups of few filters, 0 for all else.
#pragma tri kernel conv2d_backward_weights
#pragma tri configs MB in {64}, NB in {128, 64}, KB in {64}, VECTORS in {1}, FEW in {0}; num_warps in {4}, num_stages in {4} if __TRI_SPECIALIZED__ == 1 && sizeof(TYPE) == 2 && __TRI_ARCH_SPECIFIC__ == 900
#pragma tri configs MB in {128}, NB in {128}, KB in {64}, VECTORS in {1}, FEW in {0}; num_warps in {8}, num_stages in {4} if __TRI_SPECIALIZED__ == 1 && sizeof(TYPE) == 2 && __TRI_ARCH_SPECIFIC__ == 900
#pragma tri configs MB in {256}, NB in {128}, KB in {64}, VECTORS in {1}, FEW in {0}; num_warps in {16}, num_stages in {4} if __TRI_SPECIALIZED__ == 1 && sizeof(TYPE) == 2 && __TRI_ARCH_SPECIFIC__ == 900
#pragma tri configs MB in {64}, NB in {64}, KB in {32}, VECTORS in {1}, FEW in {0}; num_warps in {4} if __TRI_SPECIALIZED__ == 1 && sizeof(TYPE) == 2 && __TRI_ARCH_SPECIFIC__ != 900
#pragma tri configs MB in {64}, NB in {64}, KB in {16}, VECTORS in {1}, FEW in {0}; num_warps in {4} if __TRI_SPECIALIZED__ == 1 && sizeof(TYPE) == 4
#pragma tri configs MB in {64}, NB in {64}, KB in {32}, VECTORS in {1}, FEW in {1}; num_warps in {4} if __TRI_SPECIALIZED__ == 2 && sizeof(TYPE) == 2
#pragma tri configs MB in {64}, NB in {64}, KB in {16}, VECTORS in {1}, FEW in {1}; num_warps in {4} if __TRI_SPECIALIZED__ == 2 && sizeof(TYPE) == 4
#pragma tri configs MB in {64}, NB in {128}, KB in {64}, VECTORS in {1}, FEW in {0}, GROUPED in {2}; num_warps in {4}, num_stages in {4} if __TRI_SPECIALIZED__ == 3 && sizeof(TYPE) == 2 && __TRI_ARCH_SPECIFIC__ == 900
#pragma tri configs MB in {64}, NB in {64}, KB in {32}, VECTORS in {1}, FEW in {0}, GROUPED in {2}; num_warps in {4} if __TRI_SPECIALIZED__ == 3 && sizeof(TYPE) == 2 && __TRI_ARCH_SPECIFIC__ != 900
#pragma tri configs MB in {64}, NB in {64}, KB in {16}, VECTORS in {1}, FEW in {0}, GROUPED in {2}; num_warps in {4} if __TRI_SPECIALIZED__ == 3 && sizeof(TYPE) == 4
#pragma tri configs MB in {32}, NB in {64}, KB in {32}, VECTORS in {1}, FEW in {0}, GROUPED in {1}; num_warps in {4} if __TRI_SPECIALIZED__ == 4 && sizeof(TYPE) == 2
#pragma tri configs MB in {32}, NB in {64}, KB in {16}, VECTORS in {1}, FEW in {0}, GROUPED in {1}; num_warps in {4} if __TRI_SPECIALIZED__ == 4 && sizeof(TYPE) == 4
#pragma tri configs MB in {64}, NB in {64}, KB in {32}, VECTORS in {0}, FEW in {0}; num_warps in {4} if !__TRI_SPECIALIZED__ && sizeof(TYPE) == 2
#pragma tri configs MB in {64}, NB in {64}, KB in {8}, VECTORS in {0}, FEW in {0}; num_warps in {4} if !__TRI_SPECIALIZED__ && sizeof(TYPE) == 4
#pragma tri key(N, H, W, C, K, R, S, stride_h, stride_w, groups, splits)
#pragma tri require(N * P * Q <= 2147483647 - KB && K * R * S * C <= 2147483647 - MB * NB)
#pragma tri require(H + 2 * pad_h <= 1073741824)
#pragma tri require((H + 2 * pad_h) * stride_xh + (W + 2 * pad_w) * stride_xw + C * stride_xc <= 2147483647)
#pragma tri require(P * stride_yp + Q * stride_yq + K * stride_yk <= 2147483647)
